// The contract of every WebhookSender. It runs for the real one and the one in memory; run it for your own when you
// replace the layer.
import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import { gist, requestTo, testSecret } from "../platform/egress/egress.ts"
import { verifyWithMerchantLibraries } from "../support/merchantLibraries.ts"
import { liveEffect, testEffect } from "../support/run.ts"

/** A delivery as the webhook server received it. */
export interface Received {
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}

/** A sender and a webhook server that it can reach. */
export interface ContractSubject {
  readonly sender: WebhookSender["Service"]
  readonly url: string
  /** A url where nothing accepts connections. */
  readonly deadUrl: string
  /** The server's answer from now on: a status, or never. */
  readonly answerWith: (answer: number | "never") => Effect.Effect<void>
  readonly received: Effect.Effect<ReadonlyArray<Received>>
}

const accepted = [200, 201, 202, 204, 226, 299]
const refused = [300, 301, 302, 303, 307, 308, 400, 401, 404, 410, 429, 500, 502, 503]

/** Registers the suite; each test makes its own subject. */
export const webhookSenderContract = (
  name: string,
  makeSubject: Effect.Effect<ContractSubject, never, Scope.Scope>
): void =>
  describe(`WebhookSender contract: ${name}`, () => {
    liveEffect("only 2xx counts as ok", () =>
      Effect.gen(function* () {
        const { sender, url, answerWith } = yield* makeSubject
        for (const status of [...accepted, ...refused]) {
          yield* answerWith(status)
          const outcome = yield* sender.send(requestTo(url))
          expect(outcome).toMatchObject({ _tag: "Answered", status, ok: accepted.includes(status) })
          expect(outcome.durationMs).toBeGreaterThanOrEqual(0)
        }
      })
    )

    liveEffect("an unreachable server is an outcome, not an error", () =>
      Effect.gen(function* () {
        const { sender, deadUrl } = yield* makeSubject
        expect(gist(yield* sender.send(requestTo(deadUrl)))).toBe("connect")
      })
    )

    liveEffect("one send is one request, whatever the answer, with exactly the bytes and id", () =>
      Effect.gen(function* () {
        const { sender, url, answerWith, received } = yield* makeSubject
        for (const [index, status] of [200, 302, 500].entries()) {
          yield* answerWith(status)
          const request = requestTo(url, `delivery-${index}`)
          yield* sender.send(request)
          const seen = yield* received
          expect(seen).toHaveLength(index + 1)
          expect(Buffer.from(seen[index]?.body ?? [])).toEqual(Buffer.from(request.body))
          expect(seen[index]?.headers["webhook-id"]).toBe(`delivery-${index}`)
        }
      })
    )

    liveEffect("stripe, standardwebhooks and svix verify the request", () =>
      Effect.gen(function* () {
        const { sender, url, received } = yield* makeSubject
        yield* sender.send(requestTo(url))
        const [delivery] = yield* received
        const body = Buffer.from(delivery?.body ?? []).toString("utf8")
        verifyWithMerchantLibraries(body, delivery?.headers ?? {}, testSecret)
      })
    )

    testEffect("each send is signed with its own time", () =>
      Effect.gen(function* () {
        const { sender, url, received } = yield* makeSubject
        yield* TestClock.setTime(1_700_000_000_999)
        yield* sender.send(requestTo(url))
        yield* TestClock.adjust("61 seconds")
        yield* sender.send(requestTo(url))
        const headers = (yield* received).map((delivery) => delivery.headers)
        expect(headers.map((each) => each["webhook-timestamp"])).toEqual(["1700000000", "1700000061"])
        expect(headers.map((each) => each["x-service-signature"]?.slice(0, 13))).toEqual([
          "t=1700000000,",
          "t=1700000061,"
        ])
        expect(headers[0]?.["webhook-signature"]).not.toBe(headers[1]?.["webhook-signature"])
      })
    )

    liveEffect("50 sends at once are 50 deliveries", () =>
      Effect.gen(function* () {
        const { sender, url, received } = yield* makeSubject
        const ids = Array.from({ length: 50 }, (_, index) => `delivery-${index}`)
        const outcomes = yield* Effect.forEach(ids, (id) => sender.send(requestTo(url, id)), {
          concurrency: "unbounded"
        })
        expect(outcomes.map(gist)).toEqual(ids.map(() => 200))
        const seen = (yield* received).map(({ headers }) => headers["webhook-id"] ?? "")
        expect(seen.toSorted()).toEqual(ids.toSorted())
      })
    )

    liveEffect("interruption ends a send at once and breaks nothing else", () =>
      Effect.gen(function* () {
        const { sender, url, answerWith } = yield* makeSubject
        yield* answerWith("never")
        const fiber = yield* Effect.forkChild(sender.send(requestTo(url)))
        yield* Effect.sleep(50)
        const [took] = yield* Effect.timed(Fiber.interrupt(fiber))
        expect(Duration.toMillis(took)).toBeLessThan(1_000)
        yield* answerWith(200)
        expect(gist(yield* sender.send(requestTo(url)))).toBe(200)
      })
    )
  })
