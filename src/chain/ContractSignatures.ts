// Signatures of contract wallets: ERC-1271 for deployed wallets, ERC-6492 for wallets that are not deployed yet. The
// chain decides, through a read-only call of ERC-6492's published validator; nothing is ever sent.
import { Context, Effect, Layer } from "effect"
import {
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex
} from "viem"
import type { Address, Env } from "../domain/Chain.ts"
import { RpcPool } from "./RpcPool.ts"
import type { RpcUnavailable } from "./Verification.ts"

export class ContractSignatures extends Context.Service<
  ContractSignatures,
  {
    /** True if the wallet at `address` accepts `signature` for the 32-byte `hash`. */
    readonly verify: (
      env: Env,
      address: Address,
      hash: Hex,
      signature: Hex
    ) => Effect.Effect<boolean, RpcUnavailable>
  }
>()("quittance/chain/ContractSignatures") {
  /** Queries the payment's chain; several nodes must agree. */
  static readonly layer: Layer.Layer<ContractSignatures, never, RpcPool> = Layer.effect(
    ContractSignatures,
    Effect.gen(function* () {
      const pool = yield* RpcPool
      return {
        verify: Effect.fn("ContractSignatures.verify")(function* (env, address, hash, signature) {
          const data = encodeDeployData({
            abi: erc6492SignatureValidatorAbi,
            args: [address, hash, signature],
            bytecode: erc6492SignatureValidatorByteCode
          })
          const answer = yield* pool.agreedCall(env, { data })
          return answer !== "reverted" && /^0x0*1$/.test(answer)
        })
      }
    })
  )

  /** Accepts no contract wallet: for chains without a node, and for tests. */
  static readonly layerNone: Layer.Layer<ContractSignatures> = Layer.succeed(ContractSignatures, {
    verify: () => Effect.succeed(false)
  })
}
