// The account's balance, and test money for it.
import { isTest } from "../../../domain/networks.ts"
import { walletBalance } from "../chain.ts"
import type { Dispatch } from "../Message.ts"
import { ServiceError } from "../service.ts"
import { failureOf } from "../wallets.ts"
import { readTerms } from "./payBySignature.ts"
import { readContext } from "./readContext.ts"
import type { Session } from "./Session.ts"

/** Reads the balance and the ways in which the account may pay. */
export const readBalance = async (session: Session, dispatch: Dispatch): Promise<void> => {
  const { account, context } = session.model()
  if (account === undefined || context === undefined) return
  try {
    const [balance, terms, byCalls] = await Promise.all([
      // For real money, the wallet's own node reports the balance.
      isTest(context.env)
        ? session.service.balance(account)
        : walletBalance(session.wallet.provider, account, context),
      readTerms(session, account),
      session.wallet.takesCalls(account, context.chain.id)
    ])
    dispatch({ type: "BalanceRead", balance, terms, byCalls })
  } catch {
    dispatch({ type: "BalanceFailed" })
  }
}

export const fund = async (
  { identity, model, service, wallet }: Session,
  dispatch: Dispatch
): Promise<void> => {
  const { account, context } = model()
  if (account === undefined) return
  try {
    const token = await identity.token(account, wallet, context)
    dispatch({ type: "Funded", balance: await service.fund(token) })
  } catch (error) {
    if (!(error instanceof ServiceError)) {
      return dispatch({ type: "FundingDeclined", failure: failureOf(error) })
    }
    if (error.refusal.code === "INVALID_BUYER_TOKEN") {
      identity.forget()
      await readContext(service, dispatch)
    }
    dispatch({ type: "FundingFailed", refusal: error.refusal })
  }
}
