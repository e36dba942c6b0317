// Levels that a query or a node knows: read by a slow fiber, never by a request, and
// not at all while metrics are off.

import { DateTime, Effect, Layer, Metric, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { isHex, toHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { parseAddress } from "../../chain/Address.ts"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import { walletNetwork } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { gaugeBy } from "../../platform/metrics/series.ts"
import { periodic } from "../../platform/workers/supervised.ts"
import { BacklogRepo } from "./BacklogRepo.ts"

const queueDepth = gaugeBy("quittance_queue_depth", "Jobs that wait, by queue; the same on every instance")
const overdue = gaugeBy("quittance_webhook_overdue_seconds", "How late the most overdue delivery is")({})
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

const set = (gauge: Metric.Gauge<number>, value: number) => Metric.update(gauge, value)

const readBacklog = (repo: typeof BacklogRepo.Service) =>
  Effect.gen(function* () {
    const found = yield* repo.read(yield* DateTime.nowAsDate)
    for (const [queue, depth] of Object.entries(found.queues)) yield* set(queueDepth({ queue }), depth)
    for (const [kind, open] of found.alerts) yield* set(openAlerts({ kind }), open)
    yield* set(overdue, found.overdueSeconds)
    yield* set(unread, found.unreadSeconds)
  })

const addressOf = (key: string | undefined) =>
  key !== undefined && isHex(key) ? parseAddress(privateKeyToAddress(key)) : undefined

const make = Effect.gen(function* () {
  const { metrics, otlp, faucet } = yield* AppConfig
  if (Option.isNone(metrics) && Option.isNone(otlp)) return
  const repo = yield* BacklogRepo
  const chain = yield* ChainVerifier
  const { relayerKey } = yield* DerivedWallets

  const addresses = () => ({
    faucet: addressOf(Option.getOrUndefined(Option.map(faucet.privateKey, Redacted.value))),
    relayer: addressOf(Option.getOrUndefined(Option.map(relayerKey, (key) => toHex(key()))))
  })
  const readBalances = Effect.suspend(() =>
    Effect.forEach(
      Object.entries(addresses()),
      Effect.fnUntraced(function* ([wallet, address]) {
        if (address === undefined) return
        const { usdcAtomic, gasWei } = yield* chain.readBalance(walletNetwork.env, address)
        yield* set(balance({ wallet, asset: "usdc" }), Number(usdcAtomic) / 1e6)
        yield* set(balance({ wallet, asset: "eth" }), Number(gasWei) / 1e18)
      }),
      { discard: true }
    )
  )

  // The gauges keep their last values meanwhile.
  yield* periodic(
    "Measuring the queues",
    Effect.sleep("10 seconds"),
    Effect.timeout(readBacklog(repo), "10 seconds"),
    "Warn"
  )
  yield* periodic("Reading wallet balances", Effect.sleep("1 minute"), readBalances, "Debug")
})

/** Refreshes the gauges until its scope closes. */
export const layer: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient | ChainVerifier> =
  Layer.effectDiscard(make).pipe(Layer.provide([BacklogRepo.layer, DerivedWallets.layer]))
