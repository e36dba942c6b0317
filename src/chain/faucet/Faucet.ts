// Test money for buyers: real USDC and gas from one wallet, within limits that
// hold across instances.
import { Context, type Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Address, TransactionHash } from "../../domain/Chain.ts"
import type { ChainUnavailable, FaucetLimitReached, FaucetUnavailable } from "../../domain/Errors.ts"
import type { MerchantId } from "../../domain/Merchant.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { Alerts } from "../../platform/alerts/Alerts.ts"
import type { RpcPool } from "../RpcPool.ts"
import { OutboxRepo } from "../wallets/OutboxRepo.ts"
import { type Credit, makeFaucetMemory } from "./Faucet/FaucetMemory.ts"
import { FaucetRepo } from "./Faucet/FaucetRepo.ts"
import { makeFaucet } from "./Faucet/makeFaucet.ts"

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
    /** The limit that holds any grant of the merchant or the client address back. Asks no node, takes nothing. */
    readonly held: (request: Omit<GrantRequest, "recipient">) => Effect.Effect<void, FaucetLimitReached>
    /** Sends a grant and waits until it is mined. */
    readonly grant: (
      request: GrantRequest
    ) => Effect.Effect<Grant, FaucetLimitReached | FaucetUnavailable | ChainUnavailable>
  }
>()("quittance/chain/Faucet") {
  /** Real money on the test chain, from the wallet of FAUCET_PRIVATE_KEY. */
  static readonly layer: Layer.Layer<
    Faucet,
    never,
    AppConfig | RpcPool | SqlClient.SqlClient | Alerts | SecureRandom.SecureRandom
  > = Layer.effect(Faucet, makeFaucet()).pipe(
    Layer.provide(FaucetRepo.layer),
    Layer.provide(OutboxRepo.layer)
  )

  /** The same limits in this process; `credit` moves the money, for example by `creditFrom` on the in-memory chain. */
  static readonly layerMemory = (credit: Credit): Layer.Layer<Faucet> =>
    Layer.effect(Faucet, makeFaucetMemory(credit))
}
