// Starts the dashboard in the browser.
import { render } from "preact"
import { App } from "./App.tsx"
import { followLinks } from "./router.ts"
import { separateTexts } from "./separateTexts.ts"
import { applyStoredTheme } from "./theme.ts"

separateTexts()
applyStoredTheme()
followLinks()
const root = document.getElementById("app")
if (root !== null) {
  root.replaceChildren()
  render(<App />, root)
}
