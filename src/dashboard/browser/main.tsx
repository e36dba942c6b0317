// Starts the dashboard in the browser.
import { render } from "preact"
import { App } from "./App.tsx"
import { followLinks } from "./router.ts"
import { applyStoredTheme } from "./theme.ts"

applyStoredTheme()
followLinks()
const root = document.getElementById("app")
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
