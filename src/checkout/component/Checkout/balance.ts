// The account's balance, and test money for it.
import { isTest } from "../../../domain/networks.ts"
import { walletBalance } from "../chain.ts"
import type { Tell } from "../Message.ts"
import { ServiceError } from "../service.ts"
import { failureOf } from "../wallets.ts"
import { readTerms } from "./payBySignature.ts"
import { readContext } from "./readContext.ts"
import type { Session } from "./Session.ts"

/** With the ways in which the account may pay. */
export const readBalance = async (session: Session, tell: Tell): Promise<void> => {
  const { account, context } = session.model()
  if (account === undefined || context === undefined) return
  try {
    const [balance, terms, byCalls] = await Promise.all([
      // Of other money than test money the wallet's own node knows.
      isTest(context.env)
        ? session.service.balance(account)
        : walletBalance(session.wallet.provider, account, context),
      readTerms(session, account),
      session.wallet.takesCalls(account, context.chain.id)
    ])
    tell({ type: "BalanceRead", balance, terms, byCalls })
  } catch {
    tell({ type: "BalanceFailed" })
  }
}

export const fund = async ({ identity, model, service, wallet }: Session, tell: Tell): Promise<void> => {
  const { account, context } = model()
  if (account === undefined) return
  try {
    const token = await identity.token(account, wallet, context)
    tell({ type: "Funded", balance: await service.fund(token) })
  } catch (error) {
    if (!(error instanceof ServiceError)) {
      return tell({ type: "FundingDeclined", failure: failureOf(error) })
    }
    if (error.refusal.code === "INVALID_BUYER_TOKEN") {
      identity.forget()
      await readContext(service, tell)
    }
    tell({ type: "FundingFailed", refusal: error.refusal })
  }
}
