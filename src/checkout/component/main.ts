// The script behind {base_url}/checkout.js: defines the element, once per page.
import { QuittanceCheckout } from "./QuittanceCheckout.ts"

if (customElements.get("quittance-checkout") === undefined)
  customElements.define("quittance-checkout", QuittanceCheckout)
