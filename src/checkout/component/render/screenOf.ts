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
  const made = pieces(model, tools)
  switch (model.state) {
    case "loading":
      return { icon: "spinner", title: made.t("loadingTitle"), text: [made.t("loadingText")] }
    case "connect":
      return connectScreen(made)
    case "wrong-network":
      return networkScreen(made)
    case "needs-funds":
      return fundsScreen(made)
    case "review":
      return reviewScreen(made)
    case "awaiting-signature":
      return signatureScreen(made)
    case "submitted":
      return submittedScreen(made)
    case "confirming":
      return confirmingScreen(made)
    case "settled":
      return settledScreen(made)
    case "failed":
      return failedScreen(made)
    case "expired":
      return expiredScreen(made)
    case "cancelled":
      return cancelledScreen(made)
  }
}
