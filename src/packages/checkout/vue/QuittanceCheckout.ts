// The checkout element as a Vue component. Listen with @settled, @failed, @statechange and @closed.
import { defineComponent, h, onMounted } from "vue"
import { elementName, loadCheckout } from "../checkout.ts"

export const QuittanceCheckout = defineComponent({
  name: "QuittanceCheckout",
  props: {
    /** Origin of the service, for example `https://pay.example.com`. */
    baseUrl: { type: String, required: true },
    intentToken: { type: String, required: true },
    publishableKey: { type: String, required: true },
    lang: { type: String, default: "auto" },
    description: { type: String, default: "" }
  },
  setup(props) {
    // If loading fails, the console shows the error and the element stays empty.
    onMounted(() => void loadCheckout(props.baseUrl).catch(console.error))
    return () =>
      h(elementName, {
        "intent-token": props.intentToken,
        "publishable-key": props.publishableKey,
        lang: props.lang,
        description: props.description
      })
  }
})
