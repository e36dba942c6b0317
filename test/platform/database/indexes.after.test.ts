// The statements of the whole suite, planned with sequential scans made expensive: a table that is still read from end
// to end has no index. Runs after the suite.
import { describe, expect, test } from "bun:test"
import { SQL } from "bun"
import { Effect } from "effect"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { recordedStatements } from "../../support/recordedStatements.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

/** Read in full on purpose. */
const whole: Readonly<Record<string, string>> = {
  webhook_workers: "a row for each process",
  receipt_keys: "a row for each rotation of ENCRYPTION_KEYS",
  merchants: "the operator's list",
  chain_cursors: "a row for each network"
}

/** Statements that read several such tables in full, by their beginning. */
const wholeStatements: Readonly<Record<string, string>> = {
  "DELETE FROM alerts WHERE id IN": "once a day, in batches",
  "DELETE FROM faucet_grants WHERE id IN": "once a day, in batches",
  "DELETE FROM authorization_nonces WHERE nonce IN": "once a day, in batches",
  "SELECT variable, kid, fingerprint FROM secret_fingerprints": "a row for each secret, at a start",
  "WITH created AS ( INSERT INTO webhook_endpoints": "endpoints, also deleted ones, when a person adds one",
  "WITH tenants AS ( SELECT merchant_id, env": "endpoints, also deleted ones, once a minute",
  "SELECT 'endpoint' AS owner": "`webhook reencrypt`, which an operator runs once for each rotation"
}
const isWhole = (text: string) => Object.keys(wholeStatements).some((start) => plain(text).startsWith(start))

const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim()
const sources = async (folder: string) => {
  const texts: Array<string> = []
  for await (const path of new Bun.Glob("**/*.ts").scan(`${import.meta.dir}/../../../${folder}`))
    texts.push(plain(await Bun.file(`${import.meta.dir}/../../../${folder}/${path}`).text()))
  return texts.join("\n")
}
/** Tests read and change rows at will; a migration fills its new columns once. */
const [tests, migrations] = await Promise.all(["test", "migrations"].map(sources))
const isService = (text: string) => {
  const written = plain(text)
    .split(/\$\d+|"\w+"/)
    .map((part) => RegExp.escape(part))
    .join(".{1,120}?")
  return !new RegExp(written).test(`${tests}${migrations}`)
}

const statements = [...recordedStatements()].filter(
  (text) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(text) && isService(text) && !isWhole(text)
)

/** A sub-select that EXPLAIN shows in two forms uses the index if few rows need it. */
const isAlternative = (plan: string) => /hashed SubPlan/.test(plan)

const scansOf = (sql: SQL, text: string) =>
  sql
    .unsafe(`EXPLAIN (GENERIC_PLAN) ${text}`)
    .simple()
    .then((rows: unknown) => {
      const plan = JSON.stringify(rows)
      return [...plan.matchAll(/Seq Scan on (\w+)/g)].flatMap(([, table = ""]) =>
        isAlternative(plan) || table in whole || table.startsWith("pg_") ? [] : [`${table}: ${plain(text)}`]
      )
    })
    // Tables that a test created, or dropped.
    .catch(() => [])

const allScans = Effect.gen(function* () {
  const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
  const url = yield* ownDatabase({ template })
  return yield* Effect.promise(async () => {
    const sql = new SQL(url, { max: 1 })
    await sql.unsafe("SET enable_seqscan = off").simple()
    const scans: Array<string> = []
    for (const text of statements) scans.push(...(await scansOf(sql, text)))
    await sql.close()
    return scans
  })
}).pipe(Effect.scoped)

describe("indexes", () => {
  const why = statements.length > 0 ? "" : " (recorded by `bun run test` without arguments)"
  test.skipIf(statements.length === 0)(
    `no statement of the service reads a table from end to end${why}`,
    async () => {
      expect(statements.length).toBeGreaterThan(200)
      expect(await Effect.runPromise(allScans)).toEqual([])
    },
    60_000
  )
})
