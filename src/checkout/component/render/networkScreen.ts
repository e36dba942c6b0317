// The screen of a wallet that is on another network.
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"

export const networkScreen = ({
  button,
  cancel,
  changeWallet,
  model,
  stopWaiting,
  t,
  waiting
}: Pieces): Screen => ({
  icon: "network",
  tone: "warn",
  title: t("networkTitle"),
  text: [t(model.busy === "switching" ? "switching" : "networkText")],
  actions:
    model.busy === "switching"
      ? [waiting("networkAction"), stopWaiting("quiet")]
      : model.busy === "balance"
        ? [waiting("checkingBalance"), cancel]
        : [button("primary", "networkAction", { type: "SwitchNetwork" }), changeWallet(), cancel]
})
