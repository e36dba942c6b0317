// `listen`: a merchant's test deliveries, signed as they are sent, on to a developer's
// machine. A cursor records what was forwarded, so that it resumes where it stopped.
import { join } from "node:path"
import { Clock, Console, DateTime, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { AppConfig } from "../AppConfig.ts"
import * as DatabaseClock from "../database/DatabaseClock.ts"
import type { MerchantId } from "../domain/Merchant.ts"
import { SecretBox } from "../keys/SecretBox.ts"
import { ForwardRepo, type ForwardRow } from "../webhooks/ForwardRepo.ts"
import { signatureHeaders } from "../webhooks/Signature.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, merchantId } from "./flags.ts"
import { advanced, type Cursor, lookFrom, readCursor, writeCursor } from "./listenCursor.ts"

const batch = 50
const pollMillis = 500
/** Pauses while the receiver or the database does not answer. */
const firstPauseMillis = 250
const longestPauseMillis = 5_000

const HttpUrl = Schema.String.check(
  Schema.makeFilter((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? "") || "an http or https URL")
)

/** The receiver's status, or undefined if it does not respond. */
const post = (url: string, body: Uint8Array, headers: Readonly<Record<string, string>>) =>
  Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "Quittance-Webhooks/1", ...headers },
      body: new Uint8Array(body),
      redirect: "manual",
      signal: AbortSignal.timeout(15_000)
    })
      .then(async (response) => {
        await response.arrayBuffer()
        return response.status
      })
      .catch(() => undefined)
  )

/** Repeats `work` until it gives something; gives up `seconds` after the last success. */
const patiently = <A, E, R>(
  work: Effect.Effect<A | undefined, E, R>,
  options: { readonly seconds: number; readonly waiting: string; readonly gaveUp: string }
) =>
  Effect.gen(function* () {
    const started = yield* Clock.currentTimeMillis
    for (let pause = firstPauseMillis; ; pause = Math.min(pause * 2, longestPauseMillis)) {
      const found = yield* work
      if (found !== undefined) return found
      if ((yield* Clock.currentTimeMillis) - started >= options.seconds * 1000) {
        return yield* new CommandFailed({ message: options.gaveUp })
      }
      if (pause === firstPauseMillis) yield* Console.error(options.waiting)
      yield* Effect.sleep(pause)
    }
  })

export const listen = Command.make(
  "listen",
  {
    merchant: merchantId,
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withDescription("The URL to forward to, such as http://localhost:3000/webhooks/quittance"),
      Flag.withSchema(HttpUrl)
    ),
    cursor: Flag.String("cursor").pipe(
      Flag.withDescription("The file that remembers what was forwarded; one in DATA_DIR by default"),
      Flag.optional
    ),
    patience: Flag.Int("patience").pipe(
      Flag.withDescription("Give up after this many seconds without the receiver or the database"),
      Flag.withDefault(60)
    ),
    json
  },
  Effect.fn("listen")(function* (input) {
    const { dataDir } = yield* AppConfig
    const repo = yield* ForwardRepo
    const secrets = yield* SecretBox
    const path = Option.getOrElse(input.cursor, () => join(dataDir, `listen-${input.merchant}.json`))
    let cursor: Cursor = yield* readCursor(path, yield* DateTime.nowAsDate)

    /** Retries while the database restarts, within the time limit. */
    const asked = <A, E>(question: Effect.Effect<A, E>) =>
      patiently(
        question.pipe(
          Effect.timeout("10 seconds"),
          Effect.catchDefect(() => Effect.undefined),
          Effect.catch(() => Effect.undefined)
        ),
        {
          seconds: input.patience,
          waiting: "The database does not answer; trying again.",
          gaveUp: `The database did not answer for ${input.patience} seconds. Restart to continue.`
        }
      )

    const secretOf = Effect.fnUntraced(function* (merchant: MerchantId) {
      const found = yield* asked(repo.secret(merchant))
      if (Option.isNone(found)) {
        return yield* new CommandFailed({
          message:
            "The merchant has no test webhook endpoint, whose secret signs what is forwarded. Register one first."
        })
      }
      return yield* secrets.open(found.value.sealed, found.value.endpointId)
    })

    const forward = Effect.fnUntraced(function* (delivery: ForwardRow) {
      const status = yield* patiently(
        Effect.gen(function* () {
          const secret = yield* secretOf(input.merchant)
          // By this machine's clock: that of a receiver which runs here.
          const now = yield* Effect.provide(Clock.currentTimeMillis, DatabaseClock.layerMachine)
          const timestamp = Math.floor(now / 1000)
          const { id, body, payment_id: paymentId, intent_url: intentUrl } = delivery
          const order = paymentId === null || intentUrl === null ? undefined : { paymentId, intentUrl }
          return yield* post(input.forwardTo, body, {
            ...signatureHeaders({ id, timestamp, body, order }, secret)
          })
        }),
        {
          seconds: input.patience,
          waiting: `${input.forwardTo} does not answer; trying again.`,
          gaveUp: `${input.forwardTo} did not answer for ${input.patience} seconds. Nothing is lost: start again to go on with ${delivery.id}.`
        }
      )
      cursor = advanced(cursor, delivery.id, delivery.created_at)
      yield* writeCursor(path, cursor)
      const { id, type } = delivery
      yield* Console.log(
        input.json ? JSON.stringify({ id, type, status }) : `${type.padEnd(16)} ${id}  ->  ${status}`
      )
    })

    // An endpoint must stand before anything can be forwarded; a missing one is said at once.
    yield* secretOf(input.merchant)
    yield* writeCursor(path, cursor)
    if (!input.json) {
      yield* Console.log(
        `Forwarding test deliveries to ${input.forwardTo}. Cursor: ${path}. Press Ctrl-C to stop.`
      )
    }
    while (true) {
      const known = cursor.forwarded.map(({ id }) => id)
      const found = yield* asked(repo.deliveries(input.merchant, lookFrom(cursor), known, batch))
      for (const delivery of found) yield* forward(delivery)
      if (found.length < batch) yield* Effect.sleep(pollMillis)
    }
  })
).pipe(
  Command.withDescription("Forward a merchant's test webhooks to a URL, from where it last stopped"),
  Command.withExamples([
    {
      command:
        "bun run cli listen --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --forward-to http://localhost:3000/webhooks",
      description: "Every delivery once more, with its id, its bytes and a fresh signature"
    }
  ])
)
