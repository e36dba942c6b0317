// Alerts a merchant if the USDC contract blocks its receiving address, before a buyer notices. It checks all
// addresses at start-up and once a day, and addresses that are new or about to be paid every few minutes.
import { Clock, Duration, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { encodeFunctionData, parseAbi } from "viem"
import { RpcPool } from "../chain/RpcPool.ts"
import { networks } from "../domain/networks.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { type Receiver, ReceiverBlacklistRepo } from "./ReceiverBlacklistRepo.ts"

const checkInterval = Duration.minutes(5)
const everyAll = Duration.hours(24)
/** Circle's FiatToken. */
const blacklistAbi = parseAbi(["function isBlacklisted(address) view returns (bool)"])

const make = Effect.gen(function* () {
  const repo = yield* ReceiverBlacklistRepo
  const pool = yield* RpcPool
  const alerts = yield* Alerts
  const { executing } = yield* Networks

  /** Undefined if the nodes do not say. */
  const isBlacklisted = ({ address, env }: Receiver) =>
    pool
      .agreedCall(env, {
        to: networks[env].usdc.address,
        data: encodeFunctionData({ abi: blacklistAbi, functionName: "isBlacklisted", args: [address] })
      })
      .pipe(
        Effect.map((answer) =>
          answer === "reverted" || answer === "0x" ? undefined : BigInt(answer) === 1n
        ),
        Effect.orElseSucceed(() => undefined)
      )

  const look = Effect.fnUntraced(function* (receiver: Receiver) {
    const { address, env, merchant_id: merchantId } = receiver
    const subject = `${env} ${address}`
    const blacklisted = yield* isBlacklisted(receiver)
    if (blacklisted === false) yield* alerts.resolve("receiver_blacklisted", subject)
    if (blacklisted === true)
      yield* alerts.raise({
        kind: "receiver_blacklisted",
        tenant: Option.some({ merchantId, env }),
        subject,
        message: `The issuer of USDC has blacklisted your receiving address ${address} on ${networks[env].name}. Transfers to it revert, so nobody can pay you. Set another receiving address, and contact the issuer.`
      })
  })

  let readAt = Number.NEGATIVE_INFINITY
  yield* startPeriodic(
    "Reading the standing of receiving addresses",
    Effect.sleep(checkInterval),
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      const isAll = at - readAt >= Duration.toMillis(everyAll)
      if (isAll) readAt = at
      const receivers = yield* isAll
        ? repo.receivers(executing)
        : repo.awaited(executing, new Date(at - 2 * Duration.toMillis(checkInterval)))
      yield* Effect.forEach(receivers, look, { discard: true })
    })
  )
})

export const layer: Layer.Layer<never, never, SqlClient.SqlClient | RpcPool | Alerts> = Layer.effectDiscard(
  make
).pipe(Layer.provide(ReceiverBlacklistRepo.layer))
