// The last screen before the wallet is prompted: payee, payer, network and fee.

import { shortened } from "../../../platform/pages/browser/shortened.ts"
import { h } from "../elements.ts"
import { pays } from "../Model.ts"
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"

const shortHex = (hex: string) =>
  h("small", {}, h("bdi", { class: "code", title: hex, dir: "ltr", translate: "no" }, shortened(hex)))

/** A payment that is not paid yet can wait for the chain without harm. */
const halted = ({ model, t }: Pieces) => {
  const { chain } = model.context ?? {}
  return chain?.haltedSince === undefined ? [] : [t("haltedText", { network: chain.name })]
}

export const reviewScreen = (pieces: Pieces): Screen => {
  const { button, cancel, changeWallet, model, otherWay, row, t, tools, values, waiting } = pieces
  const signs = pays(model) === "by signature"
  return {
    icon: model.busy === undefined ? "wallet" : "spinner",
    title: t("reviewTitle"),
    text: halted(pieces),
    body: [
      h(
        "dl",
        { part: "details" },
        row("reviewTo", values["merchant"], shortHex(tools.claims?.receiver ?? "")),
        row("reviewFrom", h("bdi", {}, values["wallet"]), shortHex(model.account ?? "")),
        row("reviewNetwork", values["network"]),
        row("reviewFee", t(signs ? "reviewFeeNone" : model.byCalls ? "reviewFeeWallet" : "reviewFeeText"))
      )
    ],
    actions: [
      model.busy === undefined ? button("primary", "payAction", { type: "Pay" }) : waiting("checkingBalance"),
      model.busy === undefined ? otherWay() : undefined,
      changeWallet(),
      cancel
    ]
  }
}
