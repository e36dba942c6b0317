// The faucet's interface, on the chain and in memory.
import type { Effect } from "effect"
import type { Address, TransactionHash } from "../../../domain/Chain.ts"
import type { ChainUnavailable, FaucetLimitReached, FaucetUnavailable } from "../../../domain/Errors.ts"
import type { MerchantId } from "../../../domain/Merchant.ts"

export interface GrantRequest {
  readonly merchantId: MerchantId
  /** The verified buyer. */
  readonly recipient: Address
  /** The client's network address, for the hourly limit. */
  readonly clientAddress: string
}

export interface Grant {
  readonly recipient: Address
  readonly usdcAtomic: bigint
  readonly gasWei: bigint
  readonly transactionIds: ReadonlyArray<TransactionHash>
}

export interface FaucetOffer {
  readonly enabled: boolean
  /** Atomic USDC that one grant pays. */
  readonly usdcAtomic: bigint
}

export interface FaucetService {
  readonly offer: FaucetOffer
  /** Fails if a limit blocks every grant of the merchant or the client address. Queries no node, reserves nothing. */
  readonly checkLimits: (request: Omit<GrantRequest, "recipient">) => Effect.Effect<void, FaucetLimitReached>
  /** Sends a grant and waits until it is mined. */
  readonly grant: (
    request: GrantRequest
  ) => Effect.Effect<Grant, FaucetLimitReached | FaucetUnavailable | ChainUnavailable>
}
