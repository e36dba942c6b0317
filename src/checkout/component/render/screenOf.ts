// Chooses the screen for each state of the checkout.
import type { Model } from "../Model.ts"
import { connectScreen } from "./connectScreen.ts"
import { cancelledScreen, expiredScreen, failedScreen, settledScreen } from "./endScreens.ts"
import { fundsScreen } from "./fundsScreen.ts"
import { networkScreen } from "./networkScreen.ts"
import { pieces } from "./pieces.ts"
import { reviewScreen } from "./reviewScreen.ts"
import type { Screen } from "./Screen.ts"
import { signatureScreen } from "./signatureScreen.ts"
import { confirmingScreen, submittedScreen } from "./underWayScreens.ts"
import type { ViewTools } from "./ViewTools.ts"

export const screenOf = (model: Model, tools: ViewTools): Screen => {
  const parts = pieces(model, tools)
  switch (model.state) {
    case "loading":
      return { icon: "spinner", title: parts.t("loadingTitle"), text: [parts.t("loadingText")] }
    case "connect":
      return connectScreen(parts)
    case "wrong-network":
      return networkScreen(parts)
    case "needs-funds":
      return fundsScreen(parts)
    case "review":
      return reviewScreen(parts)
    case "awaiting-signature":
      return signatureScreen(parts)
    case "submitted":
      return submittedScreen(parts)
    case "confirming":
      return confirmingScreen(parts)
    case "settled":
      return settledScreen(parts)
    case "failed":
      return failedScreen(parts)
    case "expired":
      return expiredScreen(parts)
    case "cancelled":
      return cancelledScreen(parts)
  }
}
