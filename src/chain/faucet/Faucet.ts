// Test money for buyers: real USDC and gas from one wallet, within limits that hold across instances.
import { Context, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { Alerts } from "../../platform/alerts/Alerts.ts"
import type { RpcPool } from "../RpcPool.ts"
import { OutboxRepo } from "../wallets/OutboxRepo.ts"
import { type Credit, makeFaucetMemory } from "./Faucet/FaucetMemory.ts"
import { FaucetRepo } from "./Faucet/FaucetRepo.ts"
import type { FaucetService } from "./Faucet/FaucetService.ts"
import { makeFaucet } from "./Faucet/makeFaucet.ts"

export class Faucet extends Context.Service<Faucet, FaucetService>()("quittance/chain/Faucet") {
  /** Sends test USDC on the real test chain, from the wallet of FAUCET_PRIVATE_KEY. */
  static readonly layer: Layer.Layer<
    Faucet,
    never,
    AppConfig | RpcPool | SqlClient.SqlClient | Alerts | SecureRandom.SecureRandom
  > = Layer.effect(Faucet, makeFaucet()).pipe(
    Layer.provide(FaucetRepo.layer),
    Layer.provide(OutboxRepo.layer)
  )

  /** The same limits in this process. `credit` moves the money, for example `creditFrom` on the in-memory chain. */
  static readonly layerMemory = (credit: Credit): Layer.Layer<Faucet> =>
    Layer.effect(Faucet, makeFaucetMemory(credit))
}
