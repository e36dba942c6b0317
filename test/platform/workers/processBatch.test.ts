import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { processBatch } from "../../../src/platform/workers/processBatch.ts"
import { testEffect } from "../../support/run.ts"

const batchOf = (rows: ReadonlyArray<number>, done: Array<number>) =>
  processBatch({
    what: "Working",
    leaseMillis: 30_000,
    batchSize: 3,
    concurrency: 1,
    take: (at, leaseUntil, limit) => {
      expect(leaseUntil.getTime() - at.getTime()).toBe(30_000)
      return Effect.succeed(rows.slice(0, limit))
    },
    process: (row) => (row === 2 ? Effect.fail("lost") : Effect.sync(() => done.push(row))),
    annotations: (row) => ({ row: String(row) })
  })

describe("a batch under a lease", () => {
  testEffect("is processed row by row, past a row that fails; a full batch says that there may be more", () =>
    Effect.gen(function* () {
      const done: Array<number> = []
      expect(yield* batchOf([1, 2, 3, 4], done)).toBe(true)
      expect(done).toEqual([1, 3])
      expect(yield* batchOf([5], done)).toBe(false)
      expect(done).toEqual([1, 3, 5])
    })
  )
})
