// A post that two instances have taken, because the first exceeded its lease: the first one's late result does not undo
// the second's.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AlertHookRepo } from "../../src/notifications/AlertHookRepo.ts"
import { AlertHooks } from "../../src/notifications/AlertHooks.ts"
import { liveEffect } from "../support/run.ts"
import { raise, shop, world } from "./notificationWorld.ts"

/** This many seconds into a day when every post is due. */
const after = (seconds: number) => new Date(Date.now() + (86_400 + seconds) * 1_000)
const failed = (nextAttemptAt: Date | null) => ({ sentAt: null, error: "status 500", nextAttemptAt })
const sent = (at: Date) => ({ sentAt: at, error: null, nextAttemptAt: null })

/** The post as the first instance and then the second have taken it. */
const takenTwice = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* AlertHookRepo
  const hooks = yield* AlertHooks
  const merchantId = yield* shop("Demo Books", [])
  const { id: hook } = yield* hooks.add({ merchantId, env: "test" }, "plain", "https://hooks.example.com/a")
  const alert = yield* raise(merchantId, "test", "A delivery failed.")
  yield* sql`INSERT INTO alert_posts (hook_id, alert_id, due_at) VALUES (${hook}, ${alert}, ${after(0)})`
  const [first] = yield* repo.takePosts(after(1), after(121), 20)
  const [second] = yield* repo.takePosts(after(122), after(242), 20)
  if (first === undefined || second === undefined) return yield* Effect.die(new Error("not taken twice"))
  const state = Effect.map(
    sql`SELECT sent_at IS NOT NULL AS sent, error, due_at IS NULL AS ended FROM alert_posts`,
    ([row]) => row
  )
  return { repo, first, second, state }
})

const { services } = world(9)
const isSent = { sent: true, error: null, ended: true }

describe("a post that two instances have taken", () => {
  liveEffect("stays sent if the second has sent it and the first fails", () =>
    Effect.gen(function* () {
      const { first, repo, second, state } = yield* takenTwice
      yield* repo.endPost(second, sent(after(125)))
      yield* repo.endPost(first, failed(after(190)))
      expect(yield* state).toEqual(isSent)
    }).pipe(Effect.provide(services))
  )

  liveEffect("stays sent if the first has sent it and the second fails", () =>
    Effect.gen(function* () {
      const { first, repo, second, state } = yield* takenTwice
      yield* repo.endPost(first, sent(after(125)))
      yield* repo.endPost(second, failed(after(190)))
      expect(yield* state).toEqual(isSent)
    }).pipe(Effect.provide(services))
  )

  liveEffect(
    "that the second has given up stays so if the first fails, and is sent if the first has sent it",
    () =>
      Effect.gen(function* () {
        const { first, repo, second, state } = yield* takenTwice
        yield* repo.endPost(second, failed(null))
        yield* repo.endPost(first, failed(after(190)))
        expect(yield* state).toEqual({ sent: false, error: "status 500", ended: true })
        yield* repo.endPost(first, sent(after(195)))
        expect(yield* state).toEqual(isSent)
      }).pipe(Effect.provide(services))
  )

  liveEffect("stays the second's for its lease if the first fails", () =>
    Effect.gen(function* () {
      const { first, repo } = yield* takenTwice
      yield* repo.endPost(first, failed(after(190)))
      expect(yield* repo.takePosts(after(200), after(320), 20)).toEqual([])
      expect(yield* repo.takePosts(after(242), after(362), 20)).toHaveLength(1)
    }).pipe(Effect.provide(services))
  )
})
