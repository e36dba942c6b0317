// Fills the placeholders of translated texts from the model.
import type { Model } from "../Model.ts"
import type { ViewTools } from "./ViewTools.ts"

export type Values = Readonly<Record<string, string>>

/** The values for the placeholders of every screen. */
export const valuesOf = (
  { context, payment, wallets, walletId }: Model,
  { translation }: ViewTools
): Values => ({
  amount: payment === undefined ? "" : translation.money(payment.amount),
  merchant: context?.merchant.name ?? "",
  network: context?.chain.name ?? "",
  reference: payment?.refCode ?? "",
  wallet: wallets.find(({ id }) => id === walletId)?.name || translation.text("browserWallet")
})
