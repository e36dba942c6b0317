// Compares this machine's clock with the database's and with the chain's newest blocks. A clock that
// is wrong raises an alert; the service itself uses the database's clock.
import { Clock, Effect, Layer, Option, Ref } from "effect"
import { Alerts } from "../alerts/Alerts.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { ClockRepo } from "../database/ClockRepo.ts"
import { secondsAhead } from "../database/DatabaseClock.ts"
import { networks } from "../domain/Chain.ts"
import { periodic } from "../workers/supervised.ts"

const every = "30 seconds"
const tolerated = 20

const make = Effect.gen(function* () {
  const chain = yield* ChainVerifier
  const database = yield* ClockRepo
  const alerts = yield* Alerts
  const seen = yield* Ref.make<{ readonly number: bigint; readonly at: number } | undefined>(undefined)

  /** Subjects whose last reading was right: the alert is resolved once, not at every reading. */
  const right = new Set<string>()

  const judge = Effect.fnUntraced(function* (subject: string, what: string, ahead: number) {
    if (Math.abs(ahead) > tolerated) {
      right.delete(subject)
      return yield* alerts.raise({
        kind: "clock_skew",
        tenant: Option.none(),
        subject,
        message: `This machine's clock is ${Math.round(Math.abs(ahead))} s ${ahead > 0 ? "ahead of" : "behind"} ${what}. Synchronise both with NTP.`
      })
    }
    if (right.has(subject)) return
    yield* alerts.resolve("clock_skew", subject)
    right.add(subject)
  })

  const withDatabase = Effect.gen(function* () {
    const before = yield* Clock.currentTimeMillis
    const now = yield* database.now
    yield* judge(
      "database",
      "the database's",
      secondsAhead(before, yield* Clock.currentTimeMillis, now.getTime())
    )
  })

  /** A stalled chain says nothing about clocks: only a block newer than the last check counts. */
  const withChain = Effect.gen(function* () {
    const head = yield* Effect.option(chain.headBlock("test"))
    if (Option.isNone(head)) return
    const now = yield* Clock.currentTimeMillis
    const last = yield* Ref.getAndSet(seen, { number: head.value.number, at: now })
    const mined = Number(head.value.time) * 1000
    const fresh = last !== undefined && head.value.number > last.number
    if (!fresh && mined <= now) return
    yield* judge(
      "chain test",
      `${networks.test.name}'s newest block`,
      secondsAhead(last?.at ?? now, now, mined)
    )
  })

  yield* periodic(
    "Checking the clocks",
    Effect.sleep(every),
    Effect.all([withDatabase, withChain], { discard: true }),
    "Warn"
  )
})

export const layer: Layer.Layer<never, never, ChainVerifier | ClockRepo | Alerts> = Layer.effectDiscard(make)
