// Screens for money in transit: sent from here, or from another browser of the same wallet.
import { h, icon, spinner } from "../elements.ts"
import { confirmingText } from "./confirmingText.ts"
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"

/** The stages sent, confirmed and settled, of which `done` are complete. */
export const stages = ({ t }: Pieces, done: number) =>
  h(
    "ol",
    { class: "stages", part: "stages" },
    ...(["stageSent", "stageConfirmed", "stageSettled"] as const).map((key, index) =>
      h(
        "li",
        {
          class: index < done ? "done" : "",
          ...(index === done ? { "aria-current": "step" } : {})
        },
        h(
          "span",
          { class: "mark", "aria-hidden": "true" },
          index < done ? icon("check") : index === done ? spinner() : undefined
        ),
        t(key)
      )
    )
  )

export const submittedScreen = (pieces: Pieces): Screen => {
  const { explorer, model, t } = pieces
  return model.busy === "checking" && model.attempt?.calls?.taken !== true
    ? { icon: "spinner", title: t("checkingTitle"), text: [t("checkingText")] }
    : {
        icon: "spinner",
        title: t("submittedTitle"),
        text: [t("submittedText")],
        body: [stages(pieces, 1)],
        actions: [explorer()]
      }
}

/** The wallet pays from another browser, or a transfer from this browser is not ruled out yet. */
const announced = ({ changeWallet, explorer, model, t, tools }: Pieces): Screen =>
  model.isOtherAttemptLost
    ? {
        icon: "spinner",
        title: t("checkingTitle"),
        text: [t("checkingText")],
        actions: [changeWallet("secondary")]
      }
    : {
        icon: "clock",
        title: t("openTitle"),
        text:
          model.otherAttempt === undefined
            ? []
            : [
                t("openText", {
                  account: model.otherAttempt.payer,
                  time: tools.translation.time(model.otherAttempt.since)
                })
              ],
        actions: [
          model.otherAttempt?.transactionId === undefined ? undefined : explorer(),
          changeWallet("secondary")
        ]
      }

export const confirmingScreen = (pieces: Pieces): Screen => {
  const { explorer, model, t } = pieces
  return model.step === "announced"
    ? announced(pieces)
    : {
        icon: "clock",
        title: t("confirmingTitle"),
        text: [confirmingText(pieces)],
        body: [stages(pieces, 1)],
        actions: [explorer()]
      }
}
