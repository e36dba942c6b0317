// Building blocks of the screens, in the buyer's language.
import { type Child, h, spinner } from "../elements.ts"
import type { Action } from "../Message.ts"
import { type Model, type Panel, pays } from "../Model.ts"
import { qrCode } from "../qr.ts"
import type { MessageKey } from "../translate.ts"
import type { ViewTools } from "./ViewTools.ts"
import { type Values, valuesOf } from "./values.ts"

export type Pieces = ReturnType<typeof pieces>

/** Created for each render: an element can be in only one place. */
export const pieces = (model: Model, tools: ViewTools) => {
  const { translation, send } = tools
  const values = valuesOf(model, tools)
  const t = (key: MessageKey, more: Values = {}) => translation.text(key, { ...values, ...more })

  const button = (
    look: "primary" | "secondary" | "quiet",
    key: MessageKey,
    run: Action | (() => void),
    more: Values = {}
  ) => {
    const element = h(
      "button",
      { type: "button", class: look, part: `button ${look}`, "data-key": key },
      t(key, more)
    )
    element.addEventListener("click", () => (typeof run === "function" ? run() : send(run)))
    return element
  }
  const panelButton = (look: "secondary" | "quiet", key: MessageKey, panel: Panel | undefined) =>
    button(look, key, { type: "ShowPanel", panel })
  const waiting = (key: MessageKey) =>
    h(
      "button",
      { type: "button", class: "primary", part: "button primary", "aria-disabled": "true", "data-key": key },
      spinner(),
      t(key)
    )
  const stopWaiting = (look: "secondary" | "quiet") => button(look, "stopWaiting", { type: "StopWaiting" })
  const changeWallet = (look: "secondary" | "quiet" = "quiet") =>
    button(look, "changeWallet", { type: "ChangeWallet" })
  // After the wallet was prompted, nobody can promise that nothing is charged.
  const cancel = model.attempt === undefined ? button("quiet", "cancel", { type: "Cancel" }) : undefined
  /** Lets the buyer choose who pays the network fee, if there is a choice. */
  const otherWay = () => {
    const signs = pays(model) === "by signature"
    return model.terms?.relayed !== true
      ? undefined
      : button("quiet", signs ? "reviewOwnFee" : "reviewNoFee", { type: "ChooseWay", byTransfer: signs })
  }

  /** Opens in a new tab beside the checkout. */
  const link = (label: MessageKey, href: string | undefined, key: string = label): Child =>
    href === undefined
      ? undefined
      : h(
          "a",
          {
            class: "link",
            part: "link",
            href,
            target: "_blank",
            rel: "noopener noreferrer",
            "data-key": key
          },
          t(label)
        )
  const hash = model.attempt?.hash ?? model.received ?? model.otherAttempt?.transactionId
  const explorer = (): Child => {
    const { explorerUrl } = model.context?.chain ?? {}
    return link(
      "viewTransaction",
      hash === undefined || explorerUrl === undefined ? undefined : `${explorerUrl}/tx/${hash}`
    )
  }

  const row = (key: MessageKey, ...value: ReadonlyArray<Child>) =>
    h("div", { class: "row" }, h("dt", {}, t(key)), h("dd", {}, ...value))
  const copyRow = (label: MessageKey, text: string, key: string) => {
    const copy = h(
      "button",
      {
        type: "button",
        class: "copy",
        part: "button copy",
        "data-key": key,
        "aria-label": `${t("copy")}: ${t(label)}`
      },
      t("copy")
    )
    copy.addEventListener("click", () => {
      void navigator.clipboard.writeText(text).then(
        () => {
          copy.textContent = t("copied")
        },
        () => {}
      )
    })
    return row(label, h("bdi", { class: "whole", dir: "ltr", translate: "no" }, text), copy)
  }
  const code = (text: string, label: MessageKey) => h("div", { class: "code-box" }, qrCode(text, t(label)))

  return {
    model,
    tools,
    values,
    t,
    button,
    panelButton,
    waiting,
    stopWaiting,
    changeWallet,
    cancel,
    otherWay,
    link,
    explorer,
    row,
    copyRow,
    code
  }
}
