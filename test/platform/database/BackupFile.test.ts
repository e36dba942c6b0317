// A backup's file, independent of a database.
import { expect } from "bun:test"
import { readdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit } from "effect"
import { readBackup, writeBackup } from "../../../src/platform/database/BackupFile.ts"
import { Manifest } from "../../../src/platform/database/Copy.ts"
import { temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

/** Writes this many rows, slowly. */
const written = (path: string, batches: number) =>
  writeBackup(path, (sink) =>
    Effect.gen(function* () {
      yield* sink.begin([])
      for (let number = 0; number < batches; number++) {
        const rows = Array.from({ length: 100 }, () => JSON.stringify({ id: Bun.randomUUIDv7() }))
        yield* sink.rows("t", rows)
        yield* Effect.sleep("1 millis")
      }
      yield* sink.end(Manifest.make({ tables: [], sequences: [] }))
      return batches * 100
    })
  )

liveEffect("two backups to one file at once are each complete, and the last one stays", () =>
  Effect.gen(function* () {
    const directory = yield* temporaryDirectory
    const path = join(directory, "quittance.backup.gz")
    const both = yield* Effect.all([Effect.exit(written(path, 20)), Effect.exit(written(path, 320))], {
      concurrency: 2
    })
    expect(both).toEqual([Exit.succeed(2_000), Exit.succeed(32_000)])
    let rows = 0
    yield* readBackup(path)({
      begin: () => Effect.void,
      rows: (_, more) =>
        Effect.sync(() => {
          rows += more.length
        }),
      end: () => Effect.void
    })
    expect(rows).toBe(32_000)
    expect(readdirSync(directory)).toEqual(["quittance.backup.gz"])
  })
)

liveEffect(
  "a killed backup's leftovers go with the next one to the same file; those of a running one stay",
  () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const left = (name: string, hoursAgo: number) => {
        const seconds = Date.now() / 1000 - hoursAgo * 3_600
        writeFileSync(join(directory, name), "")
        utimesSync(join(directory, name), seconds, seconds)
      }
      left("shop.gz.0a1b2c3d.partial", 30)
      left("shop.gz.1a1b2c3d.partial", 0.5)
      left("other.gz.0a1b2c3d.partial", 30)
      left("shop.gz.mine.partial", 30)
      yield* written(join(directory, "shop.gz"), 1)
      expect(readdirSync(directory).toSorted()).toEqual([
        "other.gz.0a1b2c3d.partial",
        "shop.gz",
        "shop.gz.1a1b2c3d.partial",
        "shop.gz.mine.partial"
      ])
    })
)
