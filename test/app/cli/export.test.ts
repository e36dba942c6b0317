// `export` as a process: the file on standard output, errors on standard error.
import { describe, expect } from "bun:test"
import { join } from "node:path"
import { Effect } from "effect"
import { joinEmbeddedPostgres } from "../../../src/platform/database/EmbeddedPostgres.ts"
import { spawnProgram, temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

const cli = Effect.fnUntraced(function* (dataDir: string, ...args: ReadonlyArray<string>) {
  const child = yield* spawnProgram(["src/app/cli/main.ts", ...args], { DATA_DIR: dataDir })
  const code = yield* child.exited
  return { code, output: child.output(), stdout: child.stdout() }
})

describe("quittance export", () => {
  liveEffect("writes the file of a period, and refuses days in the wrong order", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      yield* joinEmbeddedPostgres(join(dataDir, "postgres"))
      const made = yield* cli(
        dataDir,
        "merchant",
        "create",
        "--name",
        "Shop",
        "--receiver",
        receiver,
        "--json"
      )
      const { merchant } = JSON.parse(made.stdout)
      const exported = (from: string, to: string, format: string, ...more: ReadonlyArray<string>) =>
        cli(
          dataDir,
          ...["export", "--merchant", merchant.id, "--env", "test", "--kind", "refunds"],
          ...["--from", from, "--to", to, "--time-zone", "Asia/Tokyo", "--format", format],
          ...more
        )
      const json = yield* exported("2026-01-01", "2026-01-31", "json")
      expect([json.code, JSON.parse(json.stdout)]).toEqual([0, { refunds: [], rows: 0 }])
      const csv = yield* exported("2026-01-01", "2026-01-31", "csv")
      expect(csv.output).toContain("at,atLocal,id,reference,payment,incomingTransfer,amount")
      expect(csv.output).toMatch(/\nend,0,+\r\n$/)
      const comma = yield* exported("2026-01-01", "2026-01-31", "csv", "--decimal", "comma")
      expect(comma.output).toMatch(/^\uFEFF?at;atLocal;id;.+\r\nend;0;+\r\n$/)
      const both = yield* exported("2026-01-01", "2026-01-31", "json", "--decimal", "comma")
      expect([both.code, both.output]).toEqual([
        1,
        "JSON always has decimal points. Leave --decimal out, or pass --format csv.\n"
      ])
      const wrong = yield* exported("2026-01-31", "2026-01-01", "csv")
      expect(wrong.code).toBe(1)
      expect(wrong.output).toContain("--to must be the day of --from or later.")
      // A full disk is reported in a sentence, so that nobody takes a truncated file for the books.
      const full = yield* spawnProgram(
        [
          ...[
            "src/app/cli/main.ts",
            "export",
            "--merchant",
            merchant.id,
            "--env",
            "test",
            "--kind",
            "refunds"
          ],
          ...["--from", "2026-01-01", "--to", "2026-01-31"]
        ],
        { DATA_DIR: dataDir },
        ["sh", "-c", 'exec "$@" > /dev/full', "sh"]
      )
      expect([yield* full.exited, full.output()]).toEqual([
        1,
        "The export failed: ENOSPC: no space left on device, write. Discard the incomplete file.\n"
      ])
    })
  )
})
