// What the buyer sees of a model: one screen a state, one main action on each.
import { type CheckoutIcon, type Child, h, icon, spinner } from "./elements.ts"
import { atomicOf, usdOf } from "./erc20.ts"
import type { UnverifiedIntent } from "./intentToken.ts"
import type { Action } from "./Message.ts"
import { beforePayment, type Model, type Panel, pays } from "./Model.ts"
import type { MessageKey } from "./messages/en.ts"
import { qrCode } from "./qr.ts"
import type { Translation } from "./translate.ts"
import { walletApps } from "./walletApps.ts"
import { isOnPage } from "./wallets.ts"

export interface ViewTools {
  readonly translation: Translation
  readonly claims: UnverifiedIntent | undefined
  /** What the shop's page says is paid for. */
  readonly description: string
  /** Until when it may be paid. */
  readonly deadline: string | undefined
  /** Of the hosted page with this payment. */
  readonly payUrl: string
  /** Whether wallets are apps here. */
  readonly phone: boolean
  readonly send: (action: Action) => void
  /** The buyer is done with the checkout. */
  readonly close: () => void
}

interface Screen {
  readonly icon: CheckoutIcon | "spinner"
  readonly tone?: "good" | "warn" | "bad"
  readonly title: string
  readonly text: ReadonlyArray<string>
  readonly body?: ReadonlyArray<Child>
  readonly actions?: ReadonlyArray<Child>
}

type Values = Readonly<Record<string, string>>

const shortened = (hex: string) => `${hex.slice(0, 6)}…${hex.slice(-4)}`

/** What every screen fills its sentences with. */
const valuesOf = ({ context, payment, wallets, walletId }: Model, { translation }: ViewTools): Values => ({
  amount: payment === undefined ? "" : translation.money(payment.amount),
  merchant: context?.merchant.name ?? "",
  network: context?.chain.name ?? "",
  reference: payment?.refCode ?? "",
  wallet: wallets.find(({ id }) => id === walletId)?.name || translation.text("browserWallet")
})

const steps = ["progressConnect", "progressReview", "progressPay", "progressDone"] as const

/** How many of the four steps are behind the buyer. */
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

const screens = (model: Model, tools: ViewTools) => {
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
  const waiting = (key: MessageKey) =>
    h(
      "button",
      { type: "button", class: "primary", part: "button primary", "aria-disabled": "true", "data-key": key },
      spinner(),
      t(key)
    )
  // Once the wallet was asked, nobody can promise that nothing is charged.
  const cancel = model.attempt === undefined ? button("quiet", "cancel", { type: "Cancel" }) : undefined
  const shortHex = (hex: string) => h("bdi", { class: "code", title: hex, dir: "ltr" }, shortened(hex))
  const row = (key: MessageKey, ...value: ReadonlyArray<Child>) =>
    h("div", { class: "row" }, h("dt", {}, t(key)), h("dd", {}, ...value))
  const hash = model.attempt?.hash ?? model.known?.transactionId
  const explorer = (): Child =>
    hash === undefined || model.context?.chain.explorerUrl === undefined
      ? undefined
      : h(
          "a",
          {
            class: "link",
            part: "link",
            href: `${model.context.chain.explorerUrl}/tx/${hash}`,
            target: "_blank",
            rel: "noopener noreferrer",
            "data-key": "viewTransaction"
          },
          t("viewTransaction")
        )
  const receipt = (): Child =>
    model.receipt === undefined
      ? undefined
      : h(
          "a",
          {
            class: "link",
            part: "link",
            href: model.receipt,
            target: "_blank",
            rel: "noopener noreferrer",
            "data-key": "viewReceipt"
          },
          t("viewReceipt")
        )
  /** The wallet that paid in place of the one that is connected here. */
  const paidBy = model.payment?.payerAddress
  const other =
    paidBy === undefined || (model.account ?? paidBy).toLowerCase() === paidBy.toLowerCase()
      ? undefined
      : paidBy
  const stages = (done: number) =>
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

  const panelButton = (look: "secondary" | "quiet", key: MessageKey, panel: Panel | undefined) =>
    button(look, key, { type: "ShowPanel", panel })
  const code = (text: string, label: MessageKey) => h("div", { class: "code-box" }, qrCode(text, t(label)))
  /** Links that open this payment in a wallet's own browser. */
  const apps = () =>
    h(
      "ul",
      { class: "wallets", part: "wallets" },
      ...walletApps.map(({ link, name }) =>
        h(
          "li",
          {},
          h(
            "a",
            { class: "wallet", part: "button wallet", href: link(tools.payUrl), "data-key": `app ${name}` },
            h("span", { class: "glyph", "aria-hidden": "true" }, icon("wallet")),
            h("span", { class: "name" }, h("bdi", {}, name))
          )
        )
      )
    )
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
    return h(
      "div",
      { class: "row" },
      h("dt", {}, t(label)),
      h("dd", {}, h("bdi", { class: "whole", dir: "ltr" }, text), copy)
    )
  }
  const byAddress = (): Screen => {
    const { address, payment } = model
    return {
      icon: address === undefined ? "spinner" : "clock",
      title: t("addressTitle"),
      text: [t("addressText"), t("addressMatched")],
      body:
        address === undefined || payment === undefined
          ? []
          : [
              code(address.uri, "qrAddress"),
              h(
                "dl",
                { part: "details" },
                copyRow("addressAmount", payment.amount, "copy amount"),
                copyRow("addressTo", address.address, "copy address"),
                row("reviewNetwork", values["network"])
              )
            ],
      actions: [panelButton("secondary", "back", undefined), cancel]
    }
  }
  const byPhone = (): Screen => ({
    icon: "phone",
    title: t("phoneTitle"),
    text: [t("phoneText")],
    body: [code(tools.payUrl, "qrPay")],
    actions: [panelButton("secondary", "back", undefined), cancel]
  })

  const connect = (): Screen => {
    if (model.busy === "connecting" && model.pairingUri !== undefined) {
      const look = tools.phone ? "primary" : "secondary"
      const scanned = code(model.pairingUri, "qrPair")
      const opened = h(
        "a",
        { class: `open ${look}`, part: `button ${look}`, href: model.pairingUri, "data-key": "openWallet" },
        t("openWallet")
      )
      return {
        icon: "phone",
        title: t("connectTitle"),
        text: [t("pairText")],
        // A phone does not scan its own screen.
        body: tools.phone ? [opened, scanned] : [scanned],
        actions: [
          tools.phone ? undefined : opened,
          button(tools.phone ? "secondary" : "quiet", "stopWaiting", { type: "StopWaiting" })
        ]
      }
    }
    if (model.busy === "connecting") {
      return {
        icon: "spinner",
        title: t("connectTitle"),
        text: [t("connecting")],
        actions: [button("secondary", "stopWaiting", { type: "StopWaiting" })]
      }
    }
    if (model.panel === "address") return byAddress()
    if (model.panel === "phone") return byPhone()
    const choices = model.wallets.map(({ id, name, icon: image }) => {
      const choice = h(
        "button",
        { type: "button", class: "wallet", part: "button wallet", "data-key": `wallet ${id}` },
        image === ""
          ? h("span", { class: "glyph", "aria-hidden": "true" }, icon("wallet"))
          : h("img", { src: image, alt: "", width: "36", height: "36" }),
        h("span", { class: "name" }, h("bdi", {}, name === "" ? t("browserWallet") : name))
      )
      choice.addEventListener("click", () => send({ type: "ChooseWallet", walletId: id }))
      return h("li", {}, choice)
    })
    if (model.busy !== "balance" && !model.wallets.some(isOnPage)) {
      return {
        icon: tools.phone ? "wallet" : "phone",
        title: t("connectNone"),
        text: [t(tools.phone ? "connectPhoneText" : "connectNoneText")],
        body: [
          tools.phone ? apps() : code(tools.payUrl, "qrPay"),
          ...(choices.length === 0 ? [] : [h("ul", { class: "wallets", part: "wallets" }, ...choices)])
        ],
        actions: [panelButton("secondary", "payByAddress", "address"), cancel]
      }
    }
    return {
      icon: model.busy === "balance" ? "spinner" : "wallet",
      title: t("connectTitle"),
      text: [model.busy === "balance" ? t("checkingBalance") : t("connectText")],
      body: model.busy === "balance" ? [] : [h("ul", { class: "wallets", part: "wallets" }, ...choices)],
      actions:
        model.busy === "balance"
          ? [cancel]
          : [
              tools.phone ? undefined : panelButton("quiet", "payByPhone", "phone"),
              panelButton("quiet", "payByAddress", "address"),
              cancel
            ]
    }
  }

  const network = (): Screen => ({
    icon: "network",
    tone: "warn",
    title: t("networkTitle"),
    text: [t(model.busy === "switching" ? "switching" : "networkText")],
    actions:
      model.busy === "switching"
        ? [waiting("networkAction"), button("quiet", "stopWaiting", { type: "StopWaiting" })]
        : model.busy === "balance"
          ? [waiting("checkingBalance"), cancel]
          : [
              button("primary", "networkAction", { type: "SwitchNetwork" }),
              button("quiet", "changeWallet", { type: "ChangeWallet" }),
              cancel
            ]
  })

  /** Where the operator sends buyers who want to buy USDC. */
  const onramp = (): Child => {
    const { account = "", context, payment } = model
    if (context?.onrampUrl === undefined) return undefined
    const href = context.onrampUrl
      .replaceAll("{address}", encodeURIComponent(account))
      .replaceAll("{amount}", encodeURIComponent(payment?.amount ?? ""))
    return h(
      "a",
      {
        class: "link",
        part: "link",
        href,
        target: "_blank",
        rel: "noopener noreferrer",
        "data-key": "onramp"
      },
      t("buyUsdc")
    )
  }

  const funds = (): Screen => {
    const { balance, context, payment, account = "" } = model
    const short = (balance?.usdcAtomic ?? 0n) < atomicOf(payment?.amount ?? "0.00")
    const noGas = balance?.gasWei === 0n && !signs && !model.byCalls
    const coins = [...(short ? ["USDC"] : []), ...(noGas ? ["ETH"] : [])].join(" + ")
    const grant = translation.money(usdOf(BigInt(context?.faucet.usdcAtomic ?? "0")))
    const faucet = context?.faucet.enabled === true
    const busy = model.busy === "balance" || model.busy === "funding"
    const check = button(faucet ? "secondary" : "primary", "checkBalance", { type: "CheckBalance" })
    return {
      icon: "coins",
      tone: "warn",
      title: t("fundsTitle"),
      text: [
        ...(short ? [t("fundsText", { balance: translation.money(usdOf(balance?.usdcAtomic ?? 0n)) })] : []),
        ...(noGas ? [t("fundsGas")] : []),
        model.busy === "funding" ? t("funding") : t("fundsTopUp", { account: shortened(account), coins })
      ],
      body: [h("dl", { part: "details" }, copyRow("addressTo", account, "copy account"))],
      actions: busy
        ? [
            waiting(model.busy === "funding" ? "identityTitle" : "checkingBalance"),
            ...(model.busy === "funding" ? [button("quiet", "stopWaiting", { type: "StopWaiting" })] : [])
          ]
        : [
            short ? onramp() : undefined,
            ...(faucet
              ? [
                  button(
                    "primary",
                    short ? "fundsAction" : "fundsGasAction",
                    { type: "GetFunds" },
                    {
                      amount: grant
                    }
                  )
                ]
              : []),
            check,
            // A wallet whose fees somebody else pays holds no coin of its own.
            ...(short ? [] : [button("quiet", "continueAnyway", { type: "ContinueAnyway" })]),
            short ? undefined : otherWay,
            button("quiet", "changeWallet", { type: "ChangeWallet" }),
            cancel
          ]
    }
  }

  const signs = pays(model) === "by signature"
  /** Who pays the network fee is the buyer's choice, where there is one. */
  const otherWay =
    model.terms?.relayed !== true
      ? undefined
      : button("quiet", signs ? "reviewOwnFee" : "reviewNoFee", { type: "ChooseWay", byTransfer: signs })

  const review = (): Screen => ({
    icon: model.busy === undefined ? "wallet" : "spinner",
    title: t("reviewTitle"),
    text: [],
    body: [
      h(
        "dl",
        { part: "details" },
        row("reviewTo", values["merchant"], h("small", {}, shortHex(tools.claims?.receiver ?? ""))),
        row("reviewFrom", h("bdi", {}, values["wallet"]), h("small", {}, shortHex(model.account ?? ""))),
        row("reviewNetwork", values["network"]),
        row("reviewFee", t(signs ? "reviewFeeNone" : model.byCalls ? "reviewFeeWallet" : "reviewFeeText"))
      )
    ],
    actions: [
      model.busy === undefined ? button("primary", "payAction", { type: "Pay" }) : waiting("checkingBalance"),
      model.busy === undefined ? otherWay : undefined,
      button("quiet", "changeWallet", { type: "ChangeWallet" }),
      cancel
    ]
  })

  /** The wallet pays from another browser. */
  const announced = (): Screen => ({
    icon: "clock",
    title: t("openTitle"),
    text:
      model.known === undefined
        ? []
        : [t("openText", { account: model.known.payer, time: translation.time(model.known.since) })],
    actions: [
      model.known?.transactionId === undefined ? undefined : explorer(),
      button("secondary", "changeWallet", { type: "ChangeWallet" })
    ]
  })

  const signature = (): Screen => {
    const stop = button("secondary", "stopWaiting", { type: "StopWaiting" })
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
          ...(model.account === undefined ? { body: connect().body ?? [] } : {}),
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

  const failed = (): Screen => ({
    icon: "cross",
    tone: "bad",
    title: t(model.reason === "gatedText" ? "gatedTitle" : "failedTitle"),
    text: [
      ...(model.reason === undefined ? [] : [t(model.reason)]),
      ...(model.code === undefined || model.reason === "failedUnreachable"
        ? []
        : [t("errorCode", { code: model.code })])
    ],
    actions:
      model.reason === "failedUnreachable"
        ? [button("primary", "tryAgain", { type: "Retry" })]
        : [explorer(), button("secondary", "done", tools.close)]
  })

  return (): Screen => {
    switch (model.state) {
      case "loading":
        return { icon: "spinner", title: t("loadingTitle"), text: [t("loadingText")] }
      case "connect":
        return connect()
      case "wrong-network":
        return network()
      case "needs-funds":
        return funds()
      case "review":
        return review()
      case "awaiting-signature":
        return signature()
      case "submitted":
        return model.busy === "checking" && model.attempt?.calls?.taken !== true
          ? { icon: "spinner", title: t("checkingTitle"), text: [t("checkingText")] }
          : {
              icon: "spinner",
              title: t("submittedTitle"),
              text: [t("submittedText")],
              body: [stages(1)],
              actions: [explorer()]
            }
      case "confirming":
        return model.step === "announced"
          ? announced()
          : {
              icon: "clock",
              title: t("confirmingTitle"),
              text: [t("confirmingText")],
              body: [stages(1)],
              actions: [explorer()]
            }
      case "settled":
        return {
          icon: "check",
          tone: "good",
          title: t("settledTitle"),
          text: [other === undefined ? t("settledText") : t("settledOther", { account: shortened(other) })],
          body: other === undefined ? [stages(3)] : [],
          actions: [button("primary", "done", tools.close), receipt(), explorer()]
        }
      case "failed":
        return failed()
      case "expired":
        return {
          icon: "clock",
          tone: "warn",
          title: t("expiredTitle"),
          text: [t("expiredText")],
          actions: [button("primary", "done", tools.close)]
        }
      case "cancelled":
        return {
          icon: model.reason === "cancelledByBuyer" ? "cross" : "alert",
          tone: "warn",
          title: t("cancelledTitle"),
          text: model.reason === undefined ? [] : [t(model.reason)],
          actions: [
            button("primary", "payAgain", { type: "StartAgain" }),
            model.reason === "cancelledByBuyer" ? undefined : explorer()
          ]
        }
    }
  }
}

/** States without a way ahead: they show no progress. */
const stopped: ReadonlySet<Model["state"]> = new Set(["failed", "expired", "cancelled"])

const header = (model: Model, tools: ViewTools): HTMLElement => {
  const { translation } = tools
  const values = valuesOf(model, tools)
  const reached = stepsDone(model)
  const amount = values["amount"] ?? ""
  // What a page's policy allows of images is `data:`.
  const given = model.context?.merchant.logoUrl
  const logo = given?.startsWith("data:image/png;base64,") === true ? given : undefined
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
      model.context?.env === "test"
        ? h("span", { class: "badge", part: "badge" }, translation.text("testMode"))
        : undefined
    ),
    amount === ""
      ? h("div", { class: "amount blank", "aria-hidden": "true" })
      : h(
          "p",
          { class: size, part: "amount" },
          h("span", { class: "visually-hidden" }, `${translation.text("amountLabel")}: `),
          amount
        ),
    tools.description === ""
      ? undefined
      : h("p", { class: "description", part: "description" }, h("bdi", {}, tools.description)),
    stopped.has(model.state)
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

/** What a screen reader is told when the screen changes. */
export interface Rendered {
  readonly card: HTMLElement
  readonly announcement: string
}

export const render = (model: Model, tools: ViewTools): Rendered => {
  const { translation } = tools
  const screen = screens(model, tools)()
  const values = valuesOf(model, tools)
  const { notice } = model
  const noticeText =
    notice === undefined ? undefined : translation.text(notice.key, { ...values, ...notice.values })
  const [other] = beforePayment.has(model.state) ? model.others : []
  const warning =
    other === undefined
      ? undefined
      : translation.text("othersWarning", { account: other.payer, time: translation.time(other.since) })
  const { support } = model.context?.merchant ?? {}
  const actions = (screen.actions ?? []).filter((action) => action !== undefined)
  const card = h(
    "section",
    {
      class: "card",
      part: "card",
      lang: translation.language,
      dir: translation.direction,
      "aria-labelledby": "title",
      "data-state": model.state
    },
    // A checkout that could not be opened has no amount to show.
    model.payment === undefined && stopped.has(model.state) ? undefined : header(model, tools),
    h(
      "div",
      { class: "main", part: "body" },
      noticeText === undefined
        ? undefined
        : h("div", { class: notice?.tone === "info" ? "notice info" : "notice", part: "notice" }, noticeText),
      warning === undefined ? undefined : h("div", { class: "notice", part: "notice" }, warning),
      h(
        "div",
        { class: "lead" },
        h(
          "span",
          { class: `icon ${screen.tone ?? ""}`.trim() },
          screen.icon === "spinner" ? spinner() : icon(screen.icon)
        ),
        h(
          "div",
          { class: "words" },
          h("h2", { id: "title", part: "title", tabindex: "-1" }, screen.title),
          ...screen.text.map((text) => h("p", { part: "message" }, text))
        )
      ),
      ...(screen.body ?? []),
      actions.length === 0 ? undefined : h("div", { class: "actions", part: "actions" }, ...actions)
    ),
    model.payment === undefined
      ? undefined
      : h(
          "footer",
          { part: "footer" },
          h("bdi", {}, translation.text("reference", values)),
          tools.deadline === undefined
            ? undefined
            : h("p", { class: "deadline", part: "deadline", role: "timer" }, tools.deadline),
          support === undefined
            ? undefined
            : h("p", { class: "support" }, translation.text("supportText", { ...values, support }))
        )
  )
  return {
    card,
    announcement: [noticeText, warning, screen.title, ...screen.text].filter(Boolean).join(". ")
  }
}
