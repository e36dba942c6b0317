// The screen of an account with too little USDC, or without gas.
import { type Child, h } from "../elements.ts"
import { usdOf } from "../erc20.ts"
import { atomicAmount, pays } from "../Model.ts"
import type { Pieces } from "./pieces.ts"
import type { Screen } from "./Screen.ts"

/** The operator's page for buying USDC. */
const onramp = ({ link, model }: Pieces): Child => {
  const { account = "", context, payment } = model
  const href = context?.onrampUrl
    ?.replaceAll("{address}", encodeURIComponent(account))
    .replaceAll("{amount}", encodeURIComponent(payment?.amount ?? ""))
  return link("buyUsdc", href, "onramp")
}

export const fundsScreen = (pieces: Pieces): Screen => {
  const { button, cancel, changeWallet, copyRow, model, otherWay, stopWaiting, t, tools, waiting } = pieces
  const { balance, context, account = "" } = model
  const { language, money } = tools.translation
  const short = (balance?.usdcAtomic ?? 0n) < atomicAmount(model)
  const noGas = balance?.gasWei === 0n && pays(model) === "by transfer" && !model.byCalls
  const coins = new Intl.ListFormat(language).format([...(short ? ["USDC"] : []), ...(noGas ? ["ETH"] : [])])
  const grant = money(usdOf(BigInt(context?.faucet.usdcAtomic ?? "0")))
  const faucet = context?.faucet.enabled === true
  const busy = model.busy === "balance" || model.busy === "funding"
  return {
    icon: "coins",
    tone: "warn",
    title: t("fundsTitle"),
    text: [
      ...(short ? [t("fundsText", { balance: money(usdOf(balance?.usdcAtomic ?? 0n)) })] : []),
      ...(noGas ? [t("fundsGas")] : []),
      model.busy === "funding" ? t("funding") : t("fundsTopUp", { coins })
    ],
    body: [h("dl", { part: "details" }, copyRow("addressTo", account, "copy account"))],
    actions: busy
      ? [
          waiting(model.busy === "funding" ? "identityTitle" : "checkingBalance"),
          ...(model.busy === "funding" ? [stopWaiting("quiet")] : [])
        ]
      : [
          short ? onramp(pieces) : undefined,
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
          button(faucet ? "secondary" : "primary", "checkBalance", { type: "CheckBalance" }),
          // A wallet whose fees somebody else pays needs no ETH.
          ...(short ? [] : [button("quiet", "continueAnyway", { type: "ContinueAnyway" })]),
          short ? undefined : otherWay(),
          changeWallet(),
          cancel
        ]
  }
}
