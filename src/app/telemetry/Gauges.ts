// Levels read from the database or a node: by a slow fiber, never by a request, and not at all while metrics
// are off.

import { DateTime, Effect, Layer, Metric, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { isHex, toHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { parseAddress } from "../../chain/Address.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import type { Env } from "../../domain/Chain.ts"
import { envs, faucetNetwork } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { gaugeBy } from "../../platform/metrics/series.ts"
import { Networks, stateOf } from "../../platform/Networks.ts"
import { queues } from "../../platform/workers/DueWork.ts"
import { startPeriodic } from "../../platform/workers/startWorker.ts"
import { BacklogRepo } from "./BacklogRepo.ts"

const queueDepth = gaugeBy("quittance_queue_depth", "Jobs that wait, by queue; the same on every instance")
const overdue = gaugeBy("quittance_queue_overdue_seconds", "How long the oldest row of a queue has been due")
const webhooksOverdue = gaugeBy(
  "quittance_webhook_overdue_seconds",
  "How late the most overdue delivery is"
)({})
const unread = gaugeBy(
  "quittance_chain_unread_seconds",
  "Age of the newest block whose transfers have been read"
)({})
const openAlerts = gaugeBy(
  "quittance_open_alerts",
  "Unacknowledged alerts, by kind; transfers are in quittance_queue_depth"
)
const balance = gaugeBy(
  "quittance_wallet_balance",
  "What a wallet of the service holds, in whole USDC or ETH"
)

const networkState = gaugeBy("quittance_network_state", "1 for what a network is: open, closing or closed")

const set = (gauge: Metric.Gauge<number>, value: number) => Metric.update(gauge, value)

/** The levels of the backlog. For a chain that was never read, the lag counts from `started`. */
const readLevels = Effect.fnUntraced(function* (repo: typeof BacklogRepo.Service, started: Date) {
  const at = yield* DateTime.nowAsDate
  const { alerts, dueSince, queues: depths, readUntil } = yield* repo.read(at)
  const secondsSince = (since: Date | undefined) =>
    since === undefined ? 0 : Math.max(0, (at.getTime() - since.getTime()) / 1_000)
  return [
    ...Object.entries(depths).map(([queue, depth]) => [queueDepth({ queue }), depth] as const),
    ...[...alerts].map(([kind, open]) => [openAlerts({ kind }), open] as const),
    ...queues.map((queue) => [overdue({ queue }), secondsSince(dueSince.get(queue))] as const),
    [webhooksOverdue, secondsSince(dueSince.get("deliveries"))] as const,
    [unread, Math.max(0, ...[...readUntil.values()].map((until) => secondsSince(until ?? started)))] as const
  ]
})

const addressOf = (key: string | undefined) =>
  key !== undefined && isHex(key) ? parseAddress(privateKeyToAddress(key)) : undefined

const make = Effect.gen(function* () {
  const { metrics, otlp, faucet } = yield* AppConfig
  if (Option.isNone(metrics) && Option.isNone(otlp)) return
  const repo = yield* BacklogRepo
  const started = yield* DateTime.nowAsDate
  const chain = yield* ChainVerifier
  const { relayerKey } = yield* DerivedWallets
  const states = yield* Networks
  const { executing } = states
  for (const env of envs) yield* set(networkState({ env, state: stateOf(states, env) }), 1)

  const faucetAddress = () => addressOf(Option.getOrUndefined(Option.map(faucet.privateKey, Redacted.value)))
  const relayerAddress = (env: Env) =>
    addressOf(Option.getOrUndefined(Option.map(relayerKey(env), (key) => toHex(key()))))
  const readBalances = Effect.suspend(() =>
    Effect.forEach(
      [
        { wallet: "faucet", env: faucetNetwork.env, address: faucetAddress() },
        ...executing.map((env) => ({ wallet: "relayer", env, address: relayerAddress(env) }))
      ],
      Effect.fnUntraced(function* ({ address, env, wallet }) {
        if (address === undefined) return
        // If one network's nodes do not respond, the other networks' figures are still set.
        const read = yield* Effect.option(chain.readBalance(env, address))
        if (Option.isNone(read)) return
        const { usdcAtomic, gasWei } = read.value
        yield* set(balance({ wallet, env, asset: "usdc" }), Number(usdcAtomic) / 1e6)
        yield* set(balance({ wallet, env, asset: "eth" }), Number(gasWei) / 1e18)
      }),
      { discard: true }
    )
  )

  let exported: ReadonlyArray<Metric.Gauge<number>> = []
  const measure = Effect.gen(function* () {
    const levels = yield* readLevels(repo, started).pipe(
      Effect.timeout("10 seconds"),
      // A stale figure would look like a measured one.
      Effect.tapCause(() => Effect.forEach(exported, Metric.remove, { discard: true }))
    )
    for (const [gauge, level] of levels) yield* set(gauge, level)
    exported = levels.map(([gauge]) => gauge)
  })
  yield* startPeriodic("Measuring the queues", Effect.sleep("10 seconds"), measure, "Warn")
  yield* startPeriodic("Reading wallet balances", Effect.sleep("1 minute"), readBalances, "Debug")
})

/** Refreshes the gauges until its scope closes. */
export const layer: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient | ChainVerifier> =
  Layer.effectDiscard(make).pipe(Layer.provide([BacklogRepo.layer, DerivedWallets.layer]))
