// Reads the transfers of each network that executes, and settles what announced or reported payers have sent. What
// no payment claims is kept for a person to explain.

import { DateTime, Duration, Effect, Layer, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { ChainReach } from "../chain/ChainReach.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import type { Env } from "../domain/Chain.ts"
import { envs, networks } from "../domain/networks.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { leased } from "../platform/workers/leased.ts"
import { periodic, supervised } from "../platform/workers/supervised.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { Payments } from "./Payments.ts"
import { TransferRepo } from "./TransferRepo.ts"
import { makeMatchTransfer } from "./TransferWatch/matchTransfer.ts"
import { readNetwork } from "./TransferWatch/readNetwork.ts"

const matchLeaseMillis = 30_000
/** Grace period for reports before an unclaimed transfer raises an alert. */
const alertGrace = Duration.minutes(2)

const make = Effect.gen(function* () {
  const { executing } = yield* Networks
  const transferRepo = yield* TransferRepo
  const claimRepo = yield* ClaimRepo
  const due = yield* DueWork
  const payments = yield* Payments
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts

  // In the order of the chain: of two transfers for one payment, the first settles it.
  const matchTransfer = makeMatchTransfer({ transferRepo, claimRepo, payments, chain })
  const matchDue = (env: Env) =>
    leased({
      what: "Matching an incoming transfer",
      leaseMillis: matchLeaseMillis,
      batch: 50,
      concurrency: 1,
      take: (at, leaseUntil, limit) => transferRepo.takeUnmatched(env, at, leaseUntil, limit),
      each: matchTransfer,
      annotations: ({ transactionId }) => ({ transactionId })
    })

  /** Raises at most one alert a merchant and day. */
  const alert = Effect.gen(function* () {
    const at = yield* DateTime.nowAsDate
    const storedBefore = new Date(at.getTime() - Duration.toMillis(alertGrace))
    for (const { count, ...tenant } of yield* transferRepo.unalerted(storedBefore)) {
      yield* alerts.raise({
        since: new Date(0),
        kind: "incoming_transfer",
        tenant: Option.some(tenant),
        subject: `${tenant.merchantId} ${tenant.env} ${at.toISOString().slice(0, 10)}`,
        message: `${count === 1 ? "A transfer" : `${count} transfers`} reached your receiving address and no payment claims ${count === 1 ? "it" : "them"}. Attach each to its payment, or mark it as handled.`
      })
      yield* transferRepo.noteAlerted(tenant, storedBefore, at)
    }
  })

  yield* Effect.forEach(executing, (env) => readNetwork(env, matchDue(env)), { discard: true })
  // Each network by itself: what waits for the silent nodes of one holds up no money of the other.
  for (const env of envs)
    yield* supervised(
      `Matching incoming transfers of ${networks[env].name}`,
      due.next("incoming transfers", "2 seconds"),
      matchDue(env)
    )
  yield* periodic("Alerting about incoming transfers", Effect.sleep("30 seconds"), alert)
})

/** Runs until its scope closes; any number of instances share the work. */
export const layer: Layer.Layer<
  never,
  never,
  | AppConfig
  | ClaimRepo
  | TransferRepo
  | Payments
  | ChainVerifier
  | ChainReach
  | Alerts
  | SecureRandom.SecureRandom
> = Layer.effectDiscard(make)
