// The screens while a wallet's prompt is open, here or in another tab.
import { connectScreen } from "./connectScreen.ts"
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"

/** The wallet's request, or the reason why there is none. */
export const signatureScreen = (pieces: Pieces): Screen => {
  const { button, model, stopWaiting, t, waiting } = pieces
  const stop = stopWaiting("secondary")
  switch (model.step) {
    case "elsewhere":
      return { icon: "tabs", title: t("elsewhereTitle"), text: [t("elsewhereText")] }
    case "unsure":
      return {
        icon: "question",
        tone: "warn",
        title: t("unsureTitle"),
        text: [t("unsureText"), t("unsureWarning")],
        actions: [
          button("primary", "checkAgain", { type: "CheckChain" }),
          model.notice === undefined ? button("secondary", "sendAgain", { type: "SendAgain" }) : undefined
        ]
      }
    case "prove":
      return {
        icon: "question",
        tone: "warn",
        title: t("proveTitle"),
        text: [t(model.busy === "signing" ? "signing" : "proveText")],
        ...(model.account === undefined ? { body: connectScreen(pieces).body ?? [] } : {}),
        actions: [
          model.account === undefined
            ? undefined
            : model.busy === "signing"
              ? waiting("proveAction")
              : button("primary", "proveAction", { type: "Prove" })
        ]
      }
    case "authorization":
      return { icon: "spinner", title: t("signTitle"), text: [t("signText")], actions: [stop] }
    case "identity":
      return { icon: "spinner", title: t("identityTitle"), text: [t("identityText")], actions: [stop] }
    default:
      return { icon: "spinner", title: t("transferTitle"), text: [t("transferText")], actions: [stop] }
  }
}
