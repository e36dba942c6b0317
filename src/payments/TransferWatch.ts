// Reads the transfers of each open network, and settles payments that payers announced or reported. Transfers that no
// payment claims are stored for a person to resolve.

import { DateTime, Duration, Effect, Layer, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { ChainHeights } from "../chain/ChainHeights.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { envs } from "../domain/networks.ts"
import { plusMillis } from "../domain/plusMillis.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { DueWork } from "../platform/workers/DueWork.ts"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { processBatchOn, sweepNetworks } from "../platform/workers/sweepNetworks.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { Payments } from "./Payments.ts"
import type { IncomingTransfer } from "./TransferRepo/TransferStore.ts"
import { TransferRepo } from "./TransferRepo.ts"
import { makeMatchTransfer } from "./TransferWatch/matchTransfer.ts"
import { readNetwork } from "./TransferWatch/readNetwork.ts"

const matchLeaseMillis = 30_000
/** Grace period for reports before an unclaimed transfer raises an alert. */
const alertGrace = Duration.minutes(2)

const make = Effect.gen(function* () {
  const { executes, executing } = yield* Networks
  const transferRepo = yield* TransferRepo
  const claimRepo = yield* ClaimRepo
  const due = yield* DueWork
  const payments = yield* Payments
  const chain = yield* ChainVerifier
  const alerts = yield* Alerts

  // In the order of the chain: of two transfers for one payment, the first settles it.
  const matching = {
    what: "Matching an incoming transfer",
    leaseMillis: matchLeaseMillis,
    batchSize: 50,
    concurrency: 1,
    take: transferRepo.takeUnmatched,
    process: makeMatchTransfer({ transferRepo, claimRepo, payments, chain }),
    annotations: ({ transactionId }: IncomingTransfer) => ({ transactionId })
  }

  /** Raises at most one alert per merchant and day. */
  const alert = Effect.gen(function* () {
    const at = yield* DateTime.nowAsDate
    const storedBefore = plusMillis(at, -Duration.toMillis(alertGrace))
    for (const { count, ...tenant } of yield* transferRepo.tenantsToAlert(storedBefore)) {
      yield* alerts.raise({
        since: new Date(0),
        kind: "incoming_transfer",
        tenant: Option.some(tenant),
        subject: `${tenant.merchantId} ${tenant.env} ${at.toISOString().slice(0, 10)}`,
        message: `${count === 1 ? "A transfer" : `${count} transfers`} reached your receiving address and ${count === 1 ? "matches" : "match"} no payment. Attach each to its payment, or mark it as handled.`
      })
      yield* transferRepo.recordAlerted(tenant, storedBefore, at)
    }
  })

  // Payments that are opened on a closed network do not count as in progress at the next start.
  const startedAt = yield* DateTime.nowAsDate
  yield* Effect.forEach(
    envs.filter((env) => !executes(env)),
    (env) => transferRepo.closeCursor(env, startedAt),
    { discard: true }
  )
  yield* Effect.forEach(executing, (env) => readNetwork(env, processBatchOn(env, matching)), {
    discard: true
  })
  yield* sweepNetworks("Matching incoming transfers", due.next("incoming transfers", "2 seconds"), matching)
  yield* startPeriodic("Alerting about incoming transfers", Effect.sleep("30 seconds"), alert)
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
  | ChainHeights
  | Alerts
  | SecureRandom.SecureRandom
> = Layer.effectDiscard(make)
