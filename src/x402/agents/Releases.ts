// Releases a reservation by cancelling its authorization on the chain (EIP-3009, cancelAuthorization). No
// other way is safe: anyone who holds the signature may use it.
import { Context, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { encodeFunctionData } from "viem"
import type { ContractSignatures } from "../../chain/ContractSignatures.ts"
import { domainOf } from "../../chain/domainSeparator.ts"
import type { RpcPool } from "../../chain/RpcPool.ts"
import { RpcUnavailable } from "../../chain/Verification.ts"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import type { Agent, AgentPayment } from "../../domain/Agent.ts"
import { AgentsNotConfigured, RateLimited } from "../../domain/Errors.ts"
import { networks } from "../../domain/networks.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { Alerts } from "../../platform/alerts/Alerts.ts"
import { authorizationAbi, authorizationTypes } from "../Authorization.ts"
import { AuthorizationChain } from "../AuthorizationChain.ts"
import { Relayer } from "../Relayer.ts"
import { agentsNotConfigured } from "./agentsNotConfigured.ts"

const cancelGas = 120_000n
/** Seconds after which part of a day's budget is free again. */
const budgetWait = 3_600

export class Releases extends Context.Service<
  Releases,
  {
    /** Sends the cancellation; the reconciler ends the reservation once a block holds it. */
    readonly release: (
      agent: Agent,
      payment: AgentPayment
    ) => Effect.Effect<void, AgentsNotConfigured | RpcUnavailable | RateLimited>
  }
>()("quittance/x402/Releases") {
  static readonly layer: Layer.Layer<
    Releases,
    never,
    AppConfig | RpcPool | ContractSignatures | SqlClient.SqlClient | Alerts
  > = Layer.effect(
    Releases,
    Effect.gen(function* () {
      const wallets = yield* DerivedWallets
      const chain = yield* AuthorizationChain
      const relayer = yield* Relayer
      return {
        release: Effect.fn("Releases.release")(function* (agent, payment) {
          const network = networks[agent.env]
          const wallet = relayer.on(agent.env)
          const account = wallets.accountOf(agent.env, agent.walletIndex)
          if (Option.isNone(account) || account.value.address !== agent.address)
            return yield* agentsNotConfigured(wallets.settingOf(agent.env))
          const signature = yield* Effect.promise(() =>
            account.value.signTypedData({
              domain: domainOf(network),
              types: { CancelAuthorization: authorizationTypes.CancelAuthorization },
              primaryType: "CancelAuthorization",
              message: { authorizer: agent.address, nonce: payment.nonce }
            })
          )
          // A spent authorization needs no gas for a cancellation that would revert.
          const state = yield* chain.authorizationState(
            agent.env,
            agent.address,
            payment.nonce,
            payment.validBefore
          )
          if (state === "used") return
          const relayed = yield* wallet.send(
            {
              purpose: "cancel",
              reference: payment.id,
              merchantId: agent.merchantId,
              payer: agent.address,
              call: {
                to: network.usdc.address,
                data: encodeFunctionData({
                  abi: authorizationAbi,
                  functionName: "cancelAuthorization",
                  args: [agent.address, payment.nonce, signature]
                })
              },
              gas: cancelGas + network.postingGas
            },
            yield* wallet.state
          )
          if (relayed._tag === "OverBudget") {
            return yield* new RateLimited({
              retryAfter: budgetWait,
              message:
                "The service pays no network fee for this now: a budget of the day is used up, or fees are too high. The authorization expires by itself."
            })
          }
          if (relayed._tag === "Refused") {
            return yield* new RpcUnavailable({
              reason: "rpc_unavailable",
              message: "the relayer's wallet is out of gas"
            })
          }
        })
      }
    })
  ).pipe(Layer.provide([DerivedWallets.layer, AuthorizationChain.layer, Relayer.layer]))

  /** For deployments without a node: nothing can be released. */
  static readonly layerNone: Layer.Layer<Releases> = Layer.succeed(Releases, {
    release: () => Effect.fail(new AgentsNotConfigured())
  })
}
