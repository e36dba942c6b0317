// Gives a reservation back by making its authorization useless on the chain (EIP-3009,
// cancelAuthorization). Nothing else can: whoever has the signature may use it.
import { Context, Effect, Layer, Option } from "effect"
import { encodeFunctionData } from "viem"
import { ChainUnavailable } from "../chain/Verification.ts"
import type { Agent, AgentPayment } from "../domain/Agent.ts"
import { networks } from "../domain/Chain.ts"
import { AgentsNotConfigured } from "../domain/Errors.ts"
import { authorizationAbi, authorizationTypes, domainOf } from "../x402/Authorization.ts"
import { Relayer } from "../x402/Relayer.ts"
import { AgentWallets } from "./AgentWallets.ts"

const cancelGas = 120_000n

interface Shape {
  /** Sends the cancellation; the reconciler ends the reservation once a block holds it. */
  readonly release: (
    agent: Agent,
    payment: AgentPayment
  ) => Effect.Effect<void, AgentsNotConfigured | ChainUnavailable>
}

export class Releases extends Context.Service<Releases, Shape>()("quittance/agents/Releases") {
  static readonly layer: Layer.Layer<Releases, never, AgentWallets | Relayer> = Layer.effect(
    Releases,
    Effect.gen(function* () {
      const wallets = yield* AgentWallets
      const relayer = yield* Relayer
      const network = networks.test
      return {
        release: Effect.fn("Releases.release")(function* (agent, payment) {
          const account = wallets.accountOf(agent.walletIndex)
          if (Option.isNone(account)) return yield* new AgentsNotConfigured()
          const signature = yield* Effect.promise(() =>
            account.value.signTypedData({
              domain: domainOf(network),
              types: { CancelAuthorization: authorizationTypes.CancelAuthorization },
              primaryType: "CancelAuthorization",
              message: { authorizer: agent.address, nonce: payment.nonce }
            })
          )
          const relayed = yield* relayer.send({
            purpose: "cancel",
            reference: payment.id,
            call: {
              to: network.usdc.address,
              data: encodeFunctionData({
                abi: authorizationAbi,
                functionName: "cancelAuthorization",
                args: [agent.address, payment.nonce, signature]
              })
            },
            gas: cancelGas
          })
          if (relayed._tag === "Refused") {
            return yield* new ChainUnavailable({
              reason: "rpc_unavailable",
              message: "the relaying wallet lacks gas"
            })
          }
        })
      }
    })
  )

  /** For chains without a node: nothing can be released. */
  static readonly layerNone: Layer.Layer<Releases> = Layer.succeed(Releases, {
    release: () => Effect.fail(new AgentsNotConfigured())
  })
}
