// An in-memory faucet with the same limits, by the Clock. `credit` moves the money, for example on the in-memory chain.

import { DateTime, Effect } from "effect"
import { keccak256, toHex } from "viem"
import { type Address, TransactionHash } from "../../../domain/Chain.ts"
import type { ChainUnavailable, FaucetUnavailable } from "../../../domain/Errors.ts"
import { type FaucetLimit, faucetLimits } from "../../../domain/faucetLimits.ts"
import type { MemoryChain } from "../../MemoryChain.ts"
import type { FaucetService, Grant, GrantRequest } from "./FaucetService.ts"
import { longestWait, zeroAddress } from "./limits.ts"
import { emptyWallet, limitReached } from "./refusals.ts"

/**
 * Moves a grant's money and returns its transactions; if it returns none, an id is invented. If it fails, the grant
 * does not count towards the limits.
 */
export type Credit = (
  grant: Grant
) => Effect.Effect<ReadonlyArray<TransactionHash>, FaucetUnavailable | ChainUnavailable>

const usdcAtomic = 10_000_000n
const gasWei = 200_000_000_000_000n

interface PastGrant extends GrantRequest {
  readonly at: Date
}

const subjectOf: { readonly [L in FaucetLimit]: (request: GrantRequest) => string } = {
  recipient: ({ recipient }) => recipient,
  merchant: ({ merchantId }) => merchantId,
  ip: ({ clientAddress }) => clientAddress
}

/** The time of the oldest grant that still fills the limit, or null if the limit is not reached. Same rule as the SQL. */
const blocking = (
  pastGrants: ReadonlyArray<PastGrant>,
  request: GrantRequest,
  limit: FaucetLimit,
  at: Date
) => {
  const { grants, windowMillis } = faucetLimits[limit]
  const within = pastGrants
    .filter(
      (grant) =>
        subjectOf[limit](grant) === subjectOf[limit](request) &&
        grant.at.getTime() > at.getTime() - windowMillis
    )
    .sort((left, right) => right.at.getTime() - left.at.getTime())
  return within[grants - 1]?.at ?? null
}

/** Moves USDC from a funded wallet on the in-memory chain; gas is credited without a transaction. */
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
    let pastGrants: ReadonlyArray<PastGrant> = []
    let count = 0
    const checkLimits = Effect.fnUntraced(function* (request: GrantRequest, at: Date) {
      const full = (limit: FaucetLimit) => blocking(pastGrants, request, limit, at)
      const reached = longestWait(
        { recipient: full("recipient"), merchant: full("merchant"), ip: full("ip") },
        at
      )
      if (reached !== undefined) return yield* limitReached(reached)
    })
    return {
      offer: { enabled: true, usdcAtomic },
      checkLimits: (request) =>
        Effect.flatMap(DateTime.nowAsDate, (at) => checkLimits({ ...request, recipient: zeroAddress }, at)),
      grant: Effect.fn("Faucet.grant")(function* (request) {
        const entry: PastGrant = { ...request, at: yield* DateTime.nowAsDate }
        yield* checkLimits(request, entry.at)
        pastGrants = [...pastGrants, entry]
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
              pastGrants = pastGrants.filter((grant) => grant !== entry)
            })
          )
        )
        return transactionIds.length === 0 ? grant : { ...grant, transactionIds }
      })
    }
  })
