// The top of every screen: the merchant, the amount, and the buyer's progress.
import { isTest } from "../../../domain/networks.ts"
import { h } from "../elements.ts"
import type { Model } from "../Model.ts"
import type { ViewTools } from "./ViewTools.ts"
import { valuesOf } from "./values.ts"

const steps = ["progressConnect", "progressReview", "progressPay", "progressDone"] as const

/** The number of completed steps out of four. */
const stepsDone = ({ state }: Model): number => {
  switch (state) {
    case "loading":
    case "connect":
    case "wrong-network":
    case "failed":
    case "expired":
    case "cancelled":
      return 0
    case "needs-funds":
    case "review":
      return 1
    case "awaiting-signature":
    case "submitted":
    case "confirming":
      return 2
    case "settled":
      return 4
  }
}

/** Final states without a settlement: they show no progress. */
export const unpaidFinalStates: ReadonlySet<Model["state"]> = new Set(["failed", "expired", "cancelled"])

export const header = (model: Model, tools: ViewTools): HTMLElement => {
  const { translation } = tools
  const values = valuesOf(model, tools)
  const reached = stepsDone(model)
  const amount = values["amount"] ?? ""
  // A page's policy may allow only `data:` images.
  const logoUrl = model.context?.merchant.logoUrl
  const logo = logoUrl?.startsWith("data:image/png;base64,") === true ? logoUrl : undefined
  const size = amount.length > 18 ? "amount longest" : amount.length > 12 ? "amount long" : "amount"
  return h(
    "header",
    { part: "header" },
    h(
      "div",
      { class: "top" },
      h(
        "div",
        { class: "identity" },
        logo === undefined ? undefined : h("img", { src: logo, alt: "", width: "32", height: "32" }),
        h("p", { class: "merchant" }, values["merchant"] === "" ? "" : translation.text("payTo", values))
      ),
      model.context !== undefined && isTest(model.context.env)
        ? h("span", { class: "badge", part: "badge" }, translation.text("testMode"))
        : undefined
    ),
    amount === ""
      ? h("div", { class: "amount blank", "aria-hidden": "true" })
      : h(
          "p",
          { class: size, part: "amount", translate: "no" },
          h("span", { class: "visually-hidden" }, `${translation.text("amountLabel")}: `),
          amount
        ),
    tools.description === ""
      ? undefined
      : h("p", { class: "description", part: "description" }, h("bdi", {}, tools.description)),
    unpaidFinalStates.has(model.state)
      ? undefined
      : h(
          "ol",
          { class: "progress", part: "progress", "aria-label": translation.text("progressLabel") },
          ...steps.map((key, index) =>
            h(
              "li",
              {
                class: index < reached || index === reached ? "reached" : "",
                ...(index === Math.min(reached, 3) ? { "aria-current": "step" } : {})
              },
              translation.text(key)
            )
          )
        )
  )
}
