// Ends reservations by what the chain shows: used, released by a cancellation, or expired in a
// block after their time. Until then they count toward the cap.

import { DateTime, Duration, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { ContractSignatures } from "../../chain/ContractSignatures.ts"
import type { RpcPool } from "../../chain/RpcPool.ts"
import type { Agent, AgentPayment } from "../../domain/Agent.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { DueWork } from "../../platform/workers/DueWork.ts"
import { leased } from "../../platform/workers/leased.ts"
import { supervised } from "../../platform/workers/supervised.ts"
import { AuthorizationChain } from "../AuthorizationChain.ts"
import { AgentRepo } from "./AgentRepo.ts"

const leaseMillis = 30_000
const againMillis = 15_000
/** Seconds of blocks after `validBefore` before an unused authorization counts as expired. */
const settledSeconds = 60n

const make = Effect.gen(function* () {
  const repo = yield* AgentRepo
  const due = yield* DueWork
  const { confirmations, paymentExpiry } = yield* AppConfig
  const chain = yield* AuthorizationChain

  const check = Effect.fn("AgentReconciler.check")(function* ({
    agent,
    payment
  }: {
    readonly agent: Agent
    readonly payment: AgentPayment
  }) {
    const { nonce, validBefore } = payment
    const standing = yield* chain.standing(agent.env, agent.address, nonce, validBefore + settledSeconds)
    const at = yield* DateTime.nowAsDate
    const again = repo.checkAgain(payment.id, new Date(at.getTime() + againMillis))
    switch (standing) {
      case "used": {
        // Where the database was restored, it was reserved anew after its use: since what it pays was opened.
        const since = new Date(payment.createdAt.getTime() - Duration.toMillis(paymentExpiry))
        const use = yield* chain.findUse(agent.env, agent.address, nonce, since)
        if (Option.isNone(use)) return yield* again
        // A cancellation spends the nonce too, and then nothing has moved.
        if (use.value.cancelled)
          return use.value.blocksSince >= BigInt(confirmations[agent.env])
            ? yield* repo.finish(payment.id, "released", null, at)
            : yield* again
        return yield* repo.finish(payment.id, "used", use.value.transactionId, at)
      }
      case "expired":
        return yield* repo.finish(payment.id, "expired", null, at)
      case "open":
      case "unknown":
        return yield* again
    }
  })

  yield* supervised(
    "The sweep of agents' reservations",
    due.next("agent payments", "2 seconds"),
    leased({
      what: "Checking an agent's reservation",
      leaseMillis,
      batch: 20,
      concurrency: 5,
      take: repo.takeDue,
      // Without a chain nothing ends: the lease brings it back.
      each: (one) => Effect.ignore(check(one)),
      annotations: ({ payment }) => ({ agentPaymentId: payment.id })
    })
  )
})

export const layer: Layer.Layer<
  never,
  never,
  AppConfig | RpcPool | ContractSignatures | SqlClient.SqlClient
> = Layer.effectDiscard(make).pipe(Layer.provide([AgentRepo.layer, AuthorizationChain.layer]))
