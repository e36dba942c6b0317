// The faucet in this process: the same limits over the Clock's time, and money
// that moves wherever `credit` moves it, for example on the in-memory chain.

import { DateTime, Effect } from "effect"
import { keccak256, toHex } from "viem"
import { type Address, TransactionHash } from "../../../domain/Chain.ts"
import type { ChainUnavailable, FaucetUnavailable } from "../../../domain/Errors.ts"
import type { MemoryChain } from "../../MemoryChain.ts"
import type { FaucetService, Grant, GrantRequest } from "./FaucetService.ts"
import { type FaucetLimit, faucetLimits, longestWait, nobody } from "./limits.ts"
import { emptyWallet, limitReached } from "./refusals.ts"

/** Moves a grant's money and answers its transactions, or none to have an id made up. A failure gives the grant back. */
export type Credit = (
  grant: Grant
) => Effect.Effect<ReadonlyArray<TransactionHash>, FaucetUnavailable | ChainUnavailable>

const usdcAtomic = 10_000_000n
const gasWei = 200_000_000_000_000n

interface Taken extends GrantRequest {
  readonly at: Date
}

const subjectOf: { readonly [L in FaucetLimit]: (request: GrantRequest) => string } = {
  recipient: ({ recipient }) => recipient,
  merchant: ({ merchantId }) => merchantId,
  ip: ({ clientAddress }) => clientAddress
}

/** The grant that keeps a limit full, as the SQL finds it. */
const blocking = (taken: ReadonlyArray<Taken>, request: GrantRequest, limit: FaucetLimit, at: Date) => {
  const { grants, windowMillis } = faucetLimits[limit]
  const within = taken
    .filter(
      (one) =>
        subjectOf[limit](one) === subjectOf[limit](request) && one.at.getTime() > at.getTime() - windowMillis
    )
    .sort((left, right) => right.at.getTime() - left.at.getTime())
  return within[grants - 1]?.at ?? null
}

/** Moves USDC from a funded wallet on the in-memory chain; gas comes out of nothing. */
export const creditFrom =
  (chain: MemoryChain["Service"], wallet: Address): Credit =>
  (grant) =>
    Effect.gen(function* () {
      if ((yield* chain.balance(wallet)).usdcAtomic < grant.usdcAtomic) return yield* emptyWallet
      yield* chain.fund(grant.recipient, { gasWei: grant.gasWei })
      return [yield* chain.transfer({ from: wallet, to: grant.recipient, amount: grant.usdcAtomic })]
    })

export const makeFaucetMemory = (credit: Credit): Effect.Effect<FaucetService> =>
  Effect.sync(() => {
    let taken: ReadonlyArray<Taken> = []
    let count = 0
    const held = Effect.fnUntraced(function* (request: GrantRequest, at: Date) {
      const full = (limit: FaucetLimit) => blocking(taken, request, limit, at)
      const found = longestWait(
        { recipient: full("recipient"), merchant: full("merchant"), ip: full("ip") },
        at
      )
      if (found !== undefined) return yield* limitReached(found)
    })
    return {
      offer: { enabled: true, usdcAtomic },
      held: (request) =>
        Effect.flatMap(DateTime.nowAsDate, (at) => held({ ...request, recipient: nobody }, at)),
      grant: Effect.fn("Faucet.grant")(function* (request) {
        const entry: Taken = { ...request, at: yield* DateTime.nowAsDate }
        yield* held(request, entry.at)
        taken = [...taken, entry]
        count += 1
        const grant: Grant = {
          recipient: request.recipient,
          usdcAtomic,
          gasWei,
          transactionIds: [TransactionHash.make(keccak256(toHex(`grant ${count}`)))]
        }
        const transactionIds = yield* credit(grant).pipe(
          Effect.onError(() =>
            Effect.sync(() => {
              taken = taken.filter((one) => one !== entry)
            })
          )
        )
        return transactionIds.length === 0 ? grant : { ...grant, transactionIds }
      })
    }
  })
