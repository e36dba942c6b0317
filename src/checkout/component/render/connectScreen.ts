// The choice of a wallet or of another way to pay.
import { type Child, h, icon } from "../elements.ts"
import { walletApps } from "../walletApps.ts"
import { isOnPage } from "../wallets.ts"
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"

const pairing = ({ code, stopWaiting, t, tools }: Pieces, uri: string): Screen => {
  const look = tools.phone ? "primary" : "secondary"
  const scanned = code(uri, "qrPair")
  const opened = h(
    "a",
    { class: `open ${look}`, part: `button ${look}`, href: uri, "data-key": "openWallet" },
    t("openWallet")
  )
  return {
    icon: "phone",
    title: t("connectTitle"),
    text: [t("pairText")],
    // A phone cannot scan its own screen.
    body: tools.phone ? [opened, scanned] : [scanned],
    actions: [tools.phone ? undefined : opened, stopWaiting(tools.phone ? "secondary" : "quiet")]
  }
}

const byAddress = ({ cancel, code, copyRow, model, panelButton, row, t, tools, values }: Pieces): Screen => {
  const { address, payment } = model
  const body = () => {
    if (address === undefined || payment === undefined) return []
    const details = h(
      "dl",
      { part: "details" },
      copyRow("addressAmount", payment.amount, "copy amount"),
      copyRow("addressTo", address.address, "copy address"),
      copyRow("addressReference", payment.refCode, "copy reference"),
      row("reviewNetwork", values["network"])
    )
    const scanned = code(address.uri, "qrAddress")
    // A phone cannot scan its own screen.
    return tools.phone ? [details, scanned] : [scanned, details]
  }
  return {
    icon: address === undefined ? "spinner" : "wallet",
    title: t("addressTitle"),
    text: [t("addressText"), t("addressMatched")],
    body: body(),
    actions: [panelButton("secondary", "back", undefined), cancel]
  }
}

const byPhone = ({ cancel, code, panelButton, t, tools }: Pieces): Screen => ({
  icon: "phone",
  title: t("phoneTitle"),
  text: [t("phoneText")],
  body: [code(tools.scanUrl, "qrPay")],
  actions: [panelButton("secondary", "back", undefined), cancel]
})

const walletList = (...choices: ReadonlyArray<Child>) =>
  h("ul", { class: "wallets", part: "wallets" }, ...choices.map((choice) => h("li", {}, choice)))

const drawnIcon = () => h("span", { class: "glyph", "aria-hidden": "true" }, icon("wallet"))

/** The wallet's own icon as an image, whose scripts do not run; a drawn icon if the image does not load. */
const iconOf = (image: string) => {
  if (image === "") return drawnIcon()
  const shown = h("img", { src: image, alt: "", width: "36", height: "36" })
  shown.addEventListener("error", () => shown.replaceWith(drawnIcon()))
  return shown
}

/** The content of a button. */
const iconAndName = (name: string, image: string) => [
  iconOf(image),
  h("span", { class: "name" }, h("bdi", {}, name))
]

/** Links that open this payment in a wallet's own browser. */
const apps = (payUrl: string) =>
  walletApps.map(({ link, name }) =>
    h(
      "a",
      { class: "wallet", part: "button wallet", href: link(payUrl), "data-key": `app ${name}` },
      ...iconAndName(name, "")
    )
  )

const walletChoices = ({ model, t, tools }: Pieces) =>
  model.wallets.map(({ id, name, icon: image }) => {
    const choice = h(
      "button",
      { type: "button", class: "wallet", part: "button wallet", "data-key": `wallet ${id}` },
      ...iconAndName(name === "" ? t("browserWallet") : name, image)
    )
    choice.addEventListener("click", () => tools.send({ type: "ChooseWallet", walletId: id }))
    return choice
  })

export const connectScreen = (pieces: Pieces): Screen => {
  const { cancel, code, model, panelButton, stopWaiting, t, tools } = pieces
  if (model.busy === "connecting" && model.pairingUri !== undefined) return pairing(pieces, model.pairingUri)
  if (model.busy === "connecting") {
    return {
      icon: "spinner",
      title: t("connectingTitle"),
      text: [t("connecting")],
      actions: [stopWaiting("secondary")]
    }
  }
  if (model.panel === "address") return byAddress(pieces)
  if (model.panel === "phone") return byPhone(pieces)
  const choices = walletChoices(pieces)
  if (model.busy !== "balance" && !model.wallets.some(isOnPage)) {
    return {
      icon: tools.phone ? "wallet" : "phone",
      title: t(tools.phone ? "connectPhone" : "connectNone"),
      text: [t(tools.phone ? "connectPhoneText" : "connectNoneText")],
      body: [
        tools.phone ? walletList(...apps(tools.payUrl)) : code(tools.scanUrl, "qrPay"),
        ...(choices.length === 0 ? [] : [walletList(...choices)])
      ],
      actions: [panelButton("secondary", "payByAddress", "address"), cancel]
    }
  }
  return {
    icon: model.busy === "balance" ? "spinner" : "wallet",
    title: t("connectTitle"),
    text: [model.busy === "balance" ? t("checkingBalance") : t("connectText")],
    body: model.busy === "balance" ? [] : [walletList(...choices)],
    actions:
      model.busy === "balance"
        ? [cancel]
        : [
            tools.phone ? undefined : panelButton("secondary", "payByPhone", "phone"),
            panelButton("secondary", "payByAddress", "address"),
            cancel
          ]
  }
}
