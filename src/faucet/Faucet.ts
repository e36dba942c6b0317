// Test money for buyers: real USDC and gas from one wallet, within limits that
// hold across instances.
import { Context, Effect, Layer } from "effect"
import type { Address, TransactionHash } from "../domain/Chain.ts"
import { TransactionHash as Hash } from "../domain/Chain.ts"
import type { ChainUnavailableError, FaucetLimitReached, FaucetUnavailable } from "../domain/Errors.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import { layerLive } from "./FaucetLive.ts"

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

export class Faucet extends Context.Service<
  Faucet,
  {
    readonly offer: FaucetOffer
    /** Sends a grant and waits until it is mined. */
    readonly grant: (
      request: GrantRequest
    ) => Effect.Effect<Grant, FaucetLimitReached | FaucetUnavailable | ChainUnavailableError>
  }
>()("quittance/faucet/Faucet") {
  /** Grants whatever is asked; `credit` moves the money, for example on the in-memory chain. */
  static readonly layer = Layer.suspend(() => layerLive)

  static readonly layerMemory = (credit: (grant: Grant) => Effect.Effect<void>): Layer.Layer<Faucet> =>
    Layer.succeed(Faucet, {
      offer: { enabled: true, usdcAtomic: 10_000_000n },
      grant: Effect.fnUntraced(function* ({ recipient }) {
        const grant: Grant = {
          recipient,
          usdcAtomic: 10_000_000n,
          gasWei: 200_000_000_000_000n,
          transactionIds: [Hash.make(`0x${"0".repeat(64)}`)]
        }
        yield* credit(grant)
        return grant
      })
    })
}
