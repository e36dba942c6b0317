// Payment by a signature that the service submits: reads its terms and requests it from the wallet.
import { readAttempt } from "../attempt.ts"
import { sameHex } from "../erc20.ts"
import type { Dispatch } from "../Message.ts"
import { atomicAmount } from "../Model.ts"
import { refusalNotice } from "../refusalNotice.ts"
import type { SigningTerms } from "../service.ts"
import { type SignedTerms, writeSigned } from "../signed.ts"
import { askChainId, askSignature, type Eip1193Provider, failureOf } from "../wallets.ts"
import { earlierRequest } from "./payByTransfer.ts"
import type { Session } from "./Session.ts"

/** Terms older than this are read again before they are signed, because they expire after minutes. */
const freshTermsMillis = 120_000

/** The typed data that the account signs to pay exactly this payment; undefined if the service returns none. */
export const readTerms = async (session: Session, account: string): Promise<SigningTerms | undefined> => {
  const { claims, service } = session
  if (claims === undefined) return undefined
  const terms = await service.terms(claims.id, account).catch(() => undefined)
  return terms !== undefined &&
    sameHex(terms.receiver, claims.receiver) &&
    sameHex(terms.token.address, claims.token.address) &&
    terms.token.chainId === claims.token.chainId &&
    terms.atomic === atomicAmount(session.model())
    ? terms
    : undefined
}

/** Requests one signature. It pays only this payment, and moves no money until it is submitted. */
export const sign = async (session: Session, dispatch: Dispatch): Promise<void> => {
  const { account, epoch, payment, terms: earlierTerms } = session.model()
  if (account === undefined || payment === undefined) return
  let terms = earlierTerms
  try {
    const earlier = readAttempt(payment.id)
    if (earlier !== undefined) return dispatch(earlierRequest(earlier))
    const now = await session.service.open(session.intentToken)
    if (now.status !== "pending") return dispatch({ type: "Superseded", payment: now })
    if (terms === undefined || Date.now() - terms.readAt > freshTermsMillis)
      terms = await readTerms(session, account)
  } catch (error) {
    return dispatch({ type: "NotSent", notice: refusalNotice(error), chainId: undefined })
  }
  if (terms?.relayed !== true) return dispatch({ type: "NotRelayed" })
  let provider: Eip1193Provider | undefined
  try {
    provider = session.wallet.provider
    const signature = await askSignature(provider, "eth_signTypedData_v4", [account, terms.json])
    // The buyer changed course during the prompt: the signature is not submitted.
    if (!session.isCurrent(epoch)) return
    const { validAfter, validBefore } = terms
    const signed: SignedTerms = { payer: account, validAfter, validBefore, signature }
    writeSigned(payment.id, signed)
    dispatch({ type: "Signed", signed })
  } catch (error) {
    const chainId = provider && (await askChainId(provider).catch(() => undefined))
    dispatch({ type: "SignFailed", failure: failureOf(error), chainId })
  }
}
