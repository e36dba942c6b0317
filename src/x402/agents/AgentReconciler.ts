// Ends reservations by the chain's state: used, released by a cancellation, or expired in a block after their
// time. Until then they count towards the caps.

import { DateTime, Duration, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { ContractSignatures } from "../../chain/ContractSignatures.ts"
import type { RpcPool } from "../../chain/RpcPool.ts"
import type { Agent, AgentPayment } from "../../domain/Agent.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { DueWork } from "../../platform/workers/DueWork.ts"
import { sweepNetworks } from "../../platform/workers/sweepNetworks.ts"
import { isCancellationFinal } from "../AuthorizationChain/nodeAuthorization.ts"
import { AuthorizationChain } from "../AuthorizationChain.ts"
import { AgentRepo } from "./AgentRepo.ts"

const leaseMillis = 30_000
const againMillis = 15_000
/** Seconds of blocks after `validBefore` before an unused authorization counts as expired. */
const settledSeconds = 60n

const make = Effect.gen(function* () {
  const repo = yield* AgentRepo
  const due = yield* DueWork
  const { paymentExpiry } = yield* AppConfig
  const chain = yield* AuthorizationChain

  const check = Effect.fn("AgentReconciler.check")(function* ({
    agent,
    payment
  }: {
    readonly agent: Agent
    readonly payment: AgentPayment
  }) {
    const { nonce, validBefore } = payment
    const state = yield* chain.authorizationState(
      agent.env,
      agent.address,
      nonce,
      validBefore + settledSeconds
    )
    const at = yield* DateTime.nowAsDate
    const recheck = repo.checkAgain(payment.id, plusMillis(at, againMillis))
    switch (state) {
      case "used": {
        // After a database restore, a use may precede its reservation, so the search starts PAYMENT_EXPIRY earlier.
        const since = plusMillis(payment.createdAt, -Duration.toMillis(paymentExpiry))
        const use = yield* chain.findUse(agent.env, agent.address, nonce, since)
        if (Option.isNone(use)) return yield* recheck
        // A cancellation also spends the nonce, but moves nothing.
        if (use.value.cancelled)
          return isCancellationFinal(agent.env, use.value)
            ? yield* repo.finish(payment.id, "released", null, at)
            : yield* recheck
        return yield* repo.finish(payment.id, "used", use.value.transactionId, at)
      }
      case "expired":
        return yield* repo.finish(payment.id, "expired", null, at)
      case "open":
      case "unknown":
        return yield* recheck
    }
  })

  yield* sweepNetworks("The sweep of agents' reservations", due.next("agent payments", "2 seconds"), {
    what: "Checking an agent's reservation",
    leaseMillis,
    batchSize: 20,
    concurrency: 5,
    take: repo.takeDue,
    // Without a chain nothing ends. The reservation is due again after its lease.
    process: (reservation) => Effect.ignore(check(reservation)),
    annotations: ({ payment }) => ({ agentPaymentId: payment.id })
  })
})

export const layer: Layer.Layer<
  never,
  never,
  AppConfig | RpcPool | ContractSignatures | SqlClient.SqlClient
> = Layer.effectDiscard(make).pipe(Layer.provide([AgentRepo.layer, AuthorizationChain.layer]))
