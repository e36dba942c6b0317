// Screens at the end of a checkout.

import { shortened } from "../../../platform/pages/browser/shortened.ts"
import type { Model } from "../Model.ts"
import type { MessageKey } from "../translate.ts"
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"
import { stages } from "./underWayScreens.ts"

export const settledScreen = (pieces: Pieces): Screen => {
  const { button, explorer, link, model, t, tools } = pieces
  /** The wallet that paid, if it is not the one connected here. */
  const paidBy = model.payment?.payerAddress
  const other =
    paidBy === undefined || (model.account ?? paidBy).toLowerCase() === paidBy.toLowerCase()
      ? undefined
      : paidBy
  return {
    icon: "check",
    tone: "good",
    title: t("settledTitle"),
    text: [other === undefined ? t("settledText") : t("settledOther", { account: shortened(other) })],
    body: other === undefined ? [stages(pieces, 3)] : [],
    actions: [button("primary", "done", tools.close), link("viewReceipt", model.receipt), explorer()]
  }
}

/** The hosted page may have the features that the shop's page lacks. */
const needsOtherPage: ReadonlySet<string | undefined> = new Set(["INSECURE_CONTEXT", "STORAGE_BLOCKED"])

export const failedScreen = ({ button, explorer, link, model, t, tools }: Pieces): Screen => ({
  icon: "cross",
  tone: "bad",
  title: t(model.reason === "gatedText" ? "gatedTitle" : "failedTitle"),
  text: [
    ...(model.reason === undefined ? [] : [t(model.reason)]),
    ...(model.code === "STORAGE_BLOCKED" && tools.hosted ? [t("failedStorageHosted")] : []),
    ...(model.code === undefined || model.reason === "failedUnreachable"
      ? []
      : [t("errorCode", { code: model.code })])
  ],
  actions:
    model.reason === "failedUnreachable"
      ? [button("primary", "tryAgain", { type: "Retry" })]
      : [
          needsOtherPage.has(model.code) && !tools.hosted ? link("openPayPage", tools.payUrl) : undefined,
          explorer(),
          button("secondary", "close", tools.close)
        ]
})

export const expiredScreen = ({ button, t, tools }: Pieces): Screen => ({
  icon: "clock",
  tone: "warn",
  title: t("expiredTitle"),
  text: [t("expiredText")],
  actions: [button("primary", "close", tools.close)]
})

/** A buyer who saw the address may have sent money to it. */
const reasonOf = ({ addressShown, reason }: Model): ReadonlyArray<MessageKey> => {
  if (reason === undefined) return []
  return [reason === "cancelledByBuyer" && addressShown ? "cancelledAddressShown" : reason]
}

export const cancelledScreen = ({ button, explorer, model, t }: Pieces): Screen => ({
  icon: model.reason === "cancelledByBuyer" ? "cross" : "alert",
  tone: "warn",
  title: t(model.reason === "cancelledByBuyer" ? "cancelledTitle" : "notCompletedTitle"),
  text: reasonOf(model).map((key) => t(key)),
  actions: [
    button("primary", "payAgain", { type: "StartAgain" }),
    model.reason === "cancelledByBuyer" ? undefined : explorer()
  ]
})
