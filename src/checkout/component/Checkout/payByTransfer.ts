// The buyer's own transfer: recorded, announced to the service, and only then requested from the wallet.
import { type Attempt, isLatest, noteNonce, readAttempt, restoreAttempt, writeAttempt } from "../attempt.ts"
import { sendCalls } from "../calls.ts"
import { isHash, minedNonce, sentTransaction, startingPoint } from "../chain.ts"
import { atomicOf, encodeTransfer, sameHex, toQuantity } from "../erc20.ts"
import type { UnverifiedIntent } from "../intentToken.ts"
import type { Dispatch, Message } from "../Message.ts"
import { refusalNotice } from "../refusalNotice.ts"
import { ServiceError } from "../service.ts"
import type { MessageKey } from "../translate.ts"
import {
  accountsOf,
  ask,
  askChainId,
  type Eip1193Provider,
  failureOf,
  type WalletFailure,
  walletErrorOf
} from "../wallets.ts"
import type { Session } from "./Session.ts"

const nothingSent: { readonly [F in WalletFailure]?: MessageKey } = {
  rejected: "noticeDeclined",
  busy: "noticeWalletBusy",
  unauthorized: "noticeUnauthorized",
  funds: "noticeNoGas"
}

/** Refers to the token's balance, not to the coin that pays the fee. */
const lacksToken = /transfer amount exceeds balance/i

/** The wallet was prompted before: that request is resolved first. */
export const earlierRequest = (attempt: Attempt): Message => ({
  type: attempt.hash === null ? "Unclear" : "Sent",
  attempt
})

/** Runs in one tab at a time. Nothing is sent before the attempt is announced. */
export const payByTransfer = async (session: Session, again: boolean, dispatch: Dispatch): Promise<void> => {
  const { announcements, claims, identity, intentToken, service, wallet } = session
  const { account, context, epoch, payment } = session.model()
  if (account === undefined || payment === undefined || context === undefined || claims === undefined) return
  const notSent = (notice: MessageKey, chainId?: number) => dispatch({ type: "NotSent", notice, chainId })
  let provider: Eip1193Provider
  let attempt: Attempt
  let earlier: Attempt | undefined
  try {
    await announcements.declining
    earlier = readAttempt(payment.id)
    if (earlier !== undefined && (!again || earlier.hash !== null)) {
      return dispatch(earlierRequest(earlier))
    }
    const now = await service.open(intentToken)
    if (now.status !== "pending") return dispatch({ type: "Superseded", payment: now })

    provider = wallet.provider
    const buyerToken = await identity.token(account, wallet, context)
    dispatch({ type: "Asking", step: "transfer" })
    const [accounts, chainId] = await Promise.all([
      ask(provider, "eth_accounts").then(accountsOf),
      askChainId(provider)
    ])
    const byCalls = earlier === undefined ? session.model().byCalls : earlier.calls !== undefined
    if (!byCalls && chainId !== context.chain.id) return notSent("noticeWrongNetwork", chainId)
    if (!accounts.some((connected) => sameHex(connected, account))) return notSent("noticeWrongAccount")
    const start = byCalls ? { nonce: 0, block: 0 } : await startingPoint(provider, account)
    const reused =
      !byCalls &&
      earlier !== undefined &&
      sameHex(earlier.from, account) &&
      (await minedNonce(provider, account)) <= earlier.nonce
        ? earlier.nonce
        : undefined
    attempt = {
      version: 1,
      id: crypto.randomUUID(),
      paymentId: payment.id,
      from: account,
      nonce: reused ?? start.nonce,
      block: earlier?.block ?? start.block,
      startedAt: Date.now(),
      buyerToken,
      hash: null,
      // The same id means the same request, which a wallet accepts only once.
      ...(byCalls ? { calls: earlier?.calls ?? { id: crypto.randomUUID(), taken: false } } : {}),
      refused: earlier?.refused ?? []
    }
    // The buyer changed course while the wallet was prompted for the signature.
    if (!session.isCurrent(epoch)) return
    if (!writeAttempt(attempt)) return notSent("failedStorage")
  } catch (error) {
    if (error instanceof ServiceError) return notSent(refusalNotice(error))
    return notSent(nothingSent[failureOf(error)] ?? "noticeNoNetwork")
  }
  const announced = await announcements.announce(attempt, earlier, dispatch)
  if (announced === undefined) return
  if (!session.isCurrent(epoch)) {
    // The response may come late: if a newer attempt has taken over, the announcement belongs to that one.
    const latest = isLatest(attempt)
    restoreAttempt(attempt, earlier)
    if (latest && earlier === undefined) await announcements.decline(attempt)
    return
  }
  await sendTransfer(session, provider, announced, earlier, claims, atomicOf(payment.amount), dispatch)
}

const sendTransfer = async (
  session: Session,
  provider: Eip1193Provider,
  attempt: Attempt,
  earlier: Attempt | undefined,
  { receiver, token }: UnverifiedIntent,
  atomic: bigint,
  dispatch: Dispatch
): Promise<void> => {
  try {
    if (attempt.calls !== undefined) {
      const id = await sendCalls(provider, {
        id: attempt.calls.id,
        from: attempt.from,
        chainId: token.chainId,
        to: token.address,
        data: encodeTransfer(receiver, atomic)
      })
      const acceptedAttempt: Attempt = { ...attempt, calls: { id, taken: true } }
      writeAttempt(acceptedAttempt)
      session.send({ type: "Sent", attempt: acceptedAttempt })
      return
    }
    const hash = await ask(provider, "eth_sendTransaction", [
      {
        from: attempt.from,
        to: token.address,
        value: "0x0",
        data: encodeTransfer(receiver, atomic),
        nonce: toQuantity(attempt.nonce),
        // If the buyer switches chains during the prompt, the wallet would otherwise send the money on the wrong
        // chain.
        chainId: toQuantity(token.chainId)
      }
    ])
    if (!isHash(hash)) return dispatch({ type: "Unclear", attempt })
    const sentAttempt: Attempt = { ...attempt, hash }
    writeAttempt(sentAttempt)
    // Counts however late the wallet responds, because the money has moved.
    session.send({ type: "Sent", attempt: sentAttempt })
    noteNonce({ ...sentAttempt, hash }, (await sentTransaction(provider, hash).catch(() => undefined))?.nonce)
  } catch (error) {
    const { failure, message } = walletErrorOf(error)
    const chainId = failure === "invalid" ? await askChainId(provider).catch(() => undefined) : undefined
    const elsewhere = chainId === token.chainId ? undefined : chainId
    const notice =
      elsewhere !== undefined
        ? "noticeWrongNetwork"
        : failure === "funds" && lacksToken.test(message)
          ? "fundsTitle"
          : nothingSent[failure]
    if (attempt.calls !== undefined && failure === "unauthorized") session.wallet.noteCallsRefused()
    if (notice === undefined) return dispatch({ type: "Unclear", attempt })
    // A refusal counts however late it comes, unless a newer attempt has taken over.
    const latest = isLatest(attempt)
    restoreAttempt(attempt, earlier)
    // An earlier request may still be approved: this refusal does not concern it.
    if (latest && earlier === undefined) await session.announcements.decline(attempt)
    const declined: Message =
      earlier === undefined
        ? { type: "NotSent", notice, chainId: elsewhere }
        : { type: "Unclear", attempt: earlier }
    if (session.model().attempt?.id === attempt.id) session.send(declined)
    else dispatch(declined)
  }
}
