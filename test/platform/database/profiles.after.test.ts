// The statements of the whole suite, compared with the profiles of docs/databases.md. Runs after the suite.
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { recordedStatements } from "../../support/recordedStatements.ts"

const features: Readonly<Record<string, RegExp>> = {
  "`ctid` and other system columns": /\b(ctid|xmin|xmax|cmin|cmax)\b/i,
  "`LOCK TABLE`": /\bLOCK TABLE\b/i,
  "`SERIALIZABLE` transactions": /\bSERIALIZABLE\b/i,
  "exclusion constraints": /\bEXCLUDE\s+USING\b/i,
  "deferrable constraints": /\bDEFERRABLE\b/i,
  "table inheritance": /\bINHERITS\b/i,
  "`TABLESAMPLE`": /\bTABLESAMPLE\b/i,
  "`UNLOGGED` tables": /\bUNLOGGED\b/i,
  "generated columns": /\bGENERATED\s+ALWAYS\s+AS\s*\(/i,
  "GiST indexes": /\bUSING\s+gist\b/i,
  "`LISTEN`": /\bLISTEN\b/i,
  "advisory locks": /\bpg_(try_)?advisory/i,
  "`SKIP LOCKED`": /\bSKIP LOCKED\b/i
}

/** The document says that it is not part of the service. */
const moving = /^LOCK TABLE /

const rows = readFileSync(join(import.meta.dir, "../../../docs/databases.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| .*\| (?:yes|no|optional) \|$/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
const statements = [...recordedStatements()]

describe("profiles of databases", () => {
  test("the document lists the features that this test looks for", () => {
    expect(rows.map(([, feature]) => feature ?? "").toSorted()).toEqual(Object.keys(features).toSorted())
  })

  const recorded = statements.length > 0
  const why = recorded ? "" : " (recorded by `bun run test` without arguments)"
  test.skipIf(!recorded)(`the suite has sent statements on every group of tables${why}`, () => {
    expect(statements.length).toBeGreaterThan(300)
    for (const table of ["payments", "webhook_deliveries", "x402_settlements", "agents", "users"])
      expect(statements.some((text) => text.includes(table))).toBe(true)
  })

  for (const [, feature = "", postgres, yugabyte] of rows) {
    test.skipIf(!recorded)(`${feature}: postgres ${postgres}, yugabyte ${yugabyte}${why}`, () => {
      const pattern = features[feature] ?? /^/
      const users = statements.filter((text) => pattern.test(text) && !moving.test(text))
      if (yugabyte === "no") expect(users).toEqual([])
    })
  }
})
