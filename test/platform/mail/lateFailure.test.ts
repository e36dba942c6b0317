// A mail that two instances have taken, because the first exceeded its lease: the first one's late result does not undo
// the second's.
import { describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { MailRepo } from "../../../src/platform/mail/MailRepo.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"

const after = (seconds: number) => new Date(Date.UTC(2020, 0, 1) + seconds * 1_000)

/** The mail as the first instance and then the second have taken it. */
const takenTwice = Effect.gen(function* () {
  const repo = yield* MailRepo
  yield* repo.insert(
    crypto.randomUUID(),
    { recipient: "ada@example.com", subject: "Receipt", body: "…" },
    after(0)
  )
  const [first] = yield* repo.take(after(1), after(121), 20, false)
  const [second] = yield* repo.take(after(122), after(242), 20, false)
  if (first === undefined || second === undefined) return yield* Effect.die(new Error("not taken twice"))
  return { repo, first, second }
})

const database = MailRepo.layer.pipe(Layer.provideMerge(testDatabase.layer))

describe("a mail that two instances have taken", () => {
  liveEffect("is not sent again if the second has sent it and the first fails", () =>
    Effect.gen(function* () {
      const { first, repo, second } = yield* takenTwice
      yield* repo.recordSent(second.id, after(125))
      yield* repo.recordFailure(first, "Timeout", after(190))
      expect(yield* repo.take(after(1_000), after(1_120), 20, false)).toEqual([])
    }).pipe(Effect.provide(database))
  )

  liveEffect("is not sent again if the first has sent it and the second fails", () =>
    Effect.gen(function* () {
      const { first, repo, second } = yield* takenTwice
      yield* repo.recordSent(first.id, after(125))
      yield* repo.recordFailure(second, "Timeout", after(190))
      expect(yield* repo.take(after(1_000), after(1_120), 20, false)).toEqual([])
    }).pipe(Effect.provide(database))
  )

  liveEffect("stays the second's for its lease if the first fails", () =>
    Effect.gen(function* () {
      const { first, repo } = yield* takenTwice
      yield* repo.recordFailure(first, "Timeout", after(190))
      expect(yield* repo.take(after(200), after(320), 20, false)).toEqual([])
      expect(yield* repo.take(after(242), after(362), 20, false)).toHaveLength(1)
    }).pipe(Effect.provide(database))
  )
})
