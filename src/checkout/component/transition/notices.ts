// Notices next to a screen.

import type { Model } from "../Model.ts"
import type { MessageKey } from "../translate.ts"
import type { WalletFailure } from "../wallets.ts"

export const walletNotice: { readonly [F in WalletFailure]: MessageKey } = {
  rejected: "noticeDeclined",
  busy: "noticeWalletBusy",
  unknown_chain: "noticeUnknownChain",
  unauthorized: "noticeUnauthorized",
  unknown_calls: "noticeWalletError",
  unreachable: "noticeWalletUnreachable",
  invalid: "noticeWalletError",
  funds: "noticeNoGas",
  unclear: "noticeWalletError"
}

export const withWarning = (
  model: Model,
  key: MessageKey,
  values?: Readonly<Record<string, string>>
): Model => ({
  ...model,
  busy: undefined,
  notice: values === undefined ? { key, tone: "warning" } : { key, tone: "warning", values }
})
