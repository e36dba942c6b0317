// Every move of money that the table does not have is refused by the database, whoever writes it; every one that it has
// goes through.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Glob, SQL } from "bun"
import { Effect, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { type Entity, entities, movesOf, paymentTable, statesOf } from "../../../src/domain/moves.ts"
import { migrate } from "../../../src/platform/database/migrate.ts"
import { migrations } from "../../../src/platform/database/migrations.ts"
import { moveRefused, moveTriggers } from "../../../src/platform/database/moveTriggers.ts"
import { sqlStateOf } from "../../../src/platform/database/sqlStateOf.ts"
import { testDatabase } from "../../support/database.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"

setDefaultTimeout(60_000)

const root = join(import.meta.dir, "../../..")
const id = "00000000-0000-4000-8000-000000000001"
const bytes = (length: number, digit = "a") => `decode(repeat('${digit}', ${2 * length}), 'hex')`

type Columns = Readonly<Record<string, string>>

/** What each row of an entity has, in whichever state. */
const common: { readonly [E in Entity]: Columns } = {
  payments: {
    id: `'${id}'`,
    merchant_id: `'${id}'`,
    env: "'test'",
    amount: "1",
    ref_code: "'PAY-00000001'",
    intent_url: "'u'",
    receiver: bytes(20),
    payer_type: "'human'",
    created_at: "now()"
  },
  claimed_transfers: {
    chain_id: "84532",
    transaction_id: bytes(32),
    log_position: "0",
    payment_id: `'${id}'`,
    block_number: "1",
    block_hash: bytes(32),
    watch_at: "now()",
    payer: bytes(20),
    receiver: bytes(20),
    amount: "1",
    ordinal: "0"
  },
  incoming_transfers: {
    id: `'${id}'`,
    chain_id: "84532",
    transaction_id: bytes(32),
    payer: bytes(20),
    receiver: bytes(20),
    amount: "1",
    ordinal: "0",
    merchant_id: `'${id}'`,
    env: "'test'",
    block_number: "1",
    block_hash: bytes(32),
    block_time: "now()",
    created_at: "now()"
  },
  refunds: {
    id: `'${id}'`,
    merchant_id: `'${id}'`,
    env: "'test'",
    payment_id: `'${id}'`,
    amount: "1",
    recipient: bytes(20),
    since_block: "0",
    beyond_paid: "false",
    created_by: "'API'",
    created_at: "now()",
    transaction_id: bytes(32),
    sender: bytes(20),
    ordinal: "0",
    block_number: "1",
    block_hash: bytes(32),
    proven_at: "now()"
  },
  x402_settlements: {
    id: `'${id}'`,
    merchant_id: `'${id}'`,
    env: "'test'",
    payment_id: `'${id}'`,
    opens_payment: "true",
    chain_id: "84532",
    asset: bytes(20),
    payer: bytes(20),
    nonce: bytes(32),
    receiver: bytes(20),
    amount: "1",
    valid_after: "0",
    valid_before: "1",
    signature: "''",
    resource: "''",
    transaction_id: bytes(32),
    created_at: "now()"
  }
}

const unsettled = {
  settled_at: "NULL",
  reported_at: "NULL",
  transaction_id: "NULL",
  payer_address: "NULL",
  token_changes: "NULL"
}
const unfailed = { failed_at: "NULL", failure_reason: "NULL" }
const nobody = {
  payment_id: "NULL",
  dropped_at: "NULL",
  handled_at: "NULL",
  handled_by: "NULL",
  attached_to: "NULL"
}

/** No statement of the service: those are looked at for how they read their tables. */
const own = (statement: string) => `/* of a test */ ${statement}`

/** What a row has in each state. */
const states: { readonly [E in Entity]: Readonly<Record<string, Columns>> } = {
  payments: {
    pending: { status: "'pending'", ...unsettled, ...unfailed },
    settled: {
      status: "'settled'",
      settled_at: "now()",
      reported_at: "now()",
      transaction_id: bytes(32),
      payer_address: bytes(20),
      token_changes: "'[]'",
      ...unfailed
    },
    failed: { status: "'failed'", ...unsettled, failed_at: "now()", failure_reason: "'expired'" }
  },
  claimed_transfers: { held: { dropped_at: "NULL" }, dropped: { dropped_at: "now()" } },
  incoming_transfers: {
    open: nobody,
    paid: { ...nobody, payment_id: `'${id}'` },
    attaching: { ...nobody, handled_at: "now()", handled_by: "'a'", attached_to: `'${id}'` },
    handled: { ...nobody, handled_at: "now()", handled_by: "'a'" },
    dropped: { ...nobody, dropped_at: "now()" }
  },
  refunds: {
    pending: { status: "'pending'", dropped_at: "NULL" },
    proven: { status: "'proven'", dropped_at: "NULL" },
    dropped: { status: "'proven'", dropped_at: "now()" },
    failed: { status: "'failed'" },
    cancelled: { status: "'cancelled'" }
  },
  x402_settlements: {
    reserved: { status: "'pending'", reserves: "true", error_reason: "NULL", answered_at: "NULL" },
    released: { status: "'pending'", reserves: "false", error_reason: "NULL", answered_at: "NULL" },
    settled: { status: "'settled'", reserves: "true", error_reason: "NULL", answered_at: "NULL" },
    delivered: { status: "'settled'", reserves: "true", error_reason: "NULL", answered_at: "now()" },
    failed: { status: "'failed'", reserves: "true", error_reason: "'expired'", answered_at: "NULL" }
  }
}

const sets = (columns: Columns) =>
  Object.entries(columns)
    .map(([column, value]) => `${column} = ${value}`)
    .join(", ")

const insertOf = (entity: Entity, columns: Columns) =>
  `INSERT INTO ${entity} (${Object.keys(columns).join(", ")}) VALUES (${Object.values(columns).join(", ")})`

const rowIn = (entity: Entity, state: string, more: Columns = {}) =>
  insertOf(entity, { ...common[entity], ...states[entity][state], ...more })

const moveTo = (entity: Entity, from: string | null, to: string | null) =>
  from === null
    ? rowIn(entity, to ?? "")
    : to === null
      ? `DELETE FROM ${entity}`
      : `UPDATE ${entity} SET ${sets(states[entity][to] ?? {})}`

/** What the statement comes to after `before`, whose rows are written without any trigger; nothing is kept. */
const outcomeOf = (before: string | undefined, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const role = (name: string) => sql.unsafe(`SET LOCAL session_replication_role = ${name}`)
    return yield* sql
      .withTransaction(
        Effect.gen(function* () {
          // Foreign keys are not what is tried here.
          yield* role("replica")
          if (before !== undefined) yield* sql.unsafe(own(before))
          for (const entity of entities) yield* sql.unsafe(`ALTER TABLE ${entity} DISABLE TRIGGER ALL`)
          for (const entity of entities)
            for (const name of ["created", "moved", "deleted", "truncated"])
              yield* sql.unsafe(`ALTER TABLE ${entity} ENABLE TRIGGER ${entity}_${name}`)
          yield* role("origin")
          yield* sql.unsafe(own(statement))
          return yield* Effect.fail("went through" as const)
        })
      )
      .pipe(Effect.catch((error) => Effect.succeed(SqlError.isSqlError(error) ? sqlStateOf(error) : error)))
  })

const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.runPromise(effect.pipe(Effect.provide(testDatabase.layer), Effect.orDie))

for (const entity of entities)
  describe(entity, () => {
    const all = statesOf(entity)

    test("has rows for each of its states", () => {
      expect(Object.keys(states[entity]).toSorted()).toEqual([...all].toSorted())
    })

    test("makes the moves of the table, and no other", async () => {
      const moves = movesOf(entity).filter(({ requires }) => requires !== "it is of a refund")
      const wanted = new Map<string, string>()
      const found = new Map<string, string>()
      await run(
        Effect.gen(function* () {
          for (const from of [null, ...all])
            for (const to of [null, ...all]) {
              if (from === null && to === null) continue
              const name = `${from ?? "none"} to ${to ?? "none"}`
              const isMove = moves.some((move) => move.from === from && move.to === to)
              wanted.set(name, isMove || from === to ? "went through" : moveRefused)
              const outcome = yield* outcomeOf(
                from === null ? undefined : rowIn(entity, from),
                moveTo(entity, from, to)
              )
              found.set(name, outcome)
            }
        })
      )
      expect([...found]).toEqual([...wanted])
    })
  })

const other = "'00000000-0000-4000-8000-000000000002'"
describe("a row that settles money", () => {
  const refunds = { payment_id: "NULL", refund_id: `'${id}'`, watch_at: "NULL" }
  const tried: ReadonlyArray<
    readonly [what: string, before: string | undefined, statement: string, goes: boolean]
  > = [
    ["a claim of a refund is created", undefined, rowIn("claimed_transfers", "held", refunds), true],
    [
      "a claim of a refund drops",
      rowIn("claimed_transfers", "held", refunds),
      moveTo("claimed_transfers", "held", "dropped"),
      true
    ],
    [
      "a claim of a refund goes once it has dropped",
      rowIn("claimed_transfers", "dropped", refunds),
      "DELETE FROM claimed_transfers",
      true
    ],
    [
      "a claim of a refund stays while it holds",
      rowIn("claimed_transfers", "held", refunds),
      "DELETE FROM claimed_transfers",
      false
    ],
    [
      "a claim of a payment stays where it has dropped",
      rowIn("claimed_transfers", "dropped"),
      "DELETE FROM claimed_transfers",
      false
    ],
    [
      "a claim that is final does not drop",
      rowIn("claimed_transfers", "held", { watch_at: "NULL" }),
      moveTo("claimed_transfers", "held", "dropped"),
      false
    ],
    [
      "a claim that holds keeps its transfer",
      rowIn("claimed_transfers", "held"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}`,
      false
    ],
    [
      "a claim that has dropped keeps it while nothing takes its place",
      rowIn("claimed_transfers", "dropped"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}`,
      false
    ],
    [
      "a claim that has dropped holds by another transfer",
      rowIn("claimed_transfers", "dropped"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}, dropped_at = NULL`,
      true
    ],
    [
      "a claim is moved to another block",
      rowIn("claimed_transfers", "held"),
      "UPDATE claimed_transfers SET block_number = 2, watch_at = NULL",
      true
    ],
    ...["held", "dropped"].map(
      (state) =>
        [
          `a claim that is ${state} stays its payment's`,
          rowIn("claimed_transfers", state),
          `UPDATE claimed_transfers SET payment_id = ${other}`,
          false
        ] as const
    ),
    [
      "a claim of a payment becomes no refund's",
      rowIn("claimed_transfers", "held"),
      `UPDATE claimed_transfers SET payment_id = NULL, refund_id = ${other}`,
      false
    ],
    [
      "a claim that has dropped is not handed over with another transfer",
      rowIn("claimed_transfers", "dropped"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}, dropped_at = NULL, payment_id = ${other}`,
      false
    ],
    [
      "a claim that has dropped does not hold by less money",
      rowIn("claimed_transfers", "dropped", { amount: "2" }),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}, dropped_at = NULL, amount = 1`,
      false
    ],
    ...[
      ["amount", "2"],
      ["receiver", bytes(20, "b")],
      ["payer_address", bytes(20, "b")],
      ["transaction_id", bytes(32, "b")],
      ["merchant_id", other]
    ].map(
      ([column, value]) =>
        [
          `a settled payment keeps its ${column}`,
          rowIn("payments", "settled"),
          `UPDATE payments SET ${column} = ${value}`,
          false
        ] as const
    ),
    [
      "a settled payment's other columns may change",
      rowIn("payments", "settled"),
      "UPDATE payments SET settled_at = now()",
      true
    ],
    ...[
      ["amount", "2"],
      ["recipient", bytes(20, "b")],
      ["transaction_id", bytes(32, "b")],
      ["payment_id", other]
    ].map(
      ([column, value]) =>
        [
          `a proven refund keeps its ${column}`,
          rowIn("refunds", "proven"),
          `UPDATE refunds SET ${column} = ${value}`,
          false
        ] as const
    ),
    [
      "a proven refund keeps its amount where it drops",
      rowIn("refunds", "proven"),
      "UPDATE refunds SET dropped_at = now(), amount = 2",
      false
    ],
    ...entities.map(
      (entity) => [`no ${entity} are truncated`, undefined, `TRUNCATE ${entity} CASCADE`, false] as const
    )
  ]
  for (const [what, before, statement, goes] of tried)
    test(what, async () =>
      expect(await run(outcomeOf(before, statement))).toBe(goes ? "went through" : moveRefused)
    )
})

/** By its statement in a migration: every function and trigger that refuses a move. */
const refusals = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT 'CREATE OR REPLACE FUNCTION ' || proname AS begin, prosrc AS definition
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname LIKE '%_refused'
    UNION ALL
    SELECT 'CREATE OR REPLACE TRIGGER ' || tgname, pg_get_triggerdef(t.oid)
    FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE p.proname LIKE '%_refused'`
  return new Map(rows.map(({ begin, definition }) => [String(begin), definition]))
})

/** What a migration has to do for the database to have the triggers of the table, and no other. */
const missingFromMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrated = yield* refusals
  for (const begin of migrated.keys())
    if (begin.includes(" FUNCTION ")) yield* sql.unsafe(`DROP FUNCTION ${begin.split(" ").at(-1)} CASCADE`)
  for (const statement of moveTriggers) yield* sql.unsafe(statement)
  const wanted = yield* refusals
  return [...new Set([...migrated.keys(), ...wanted.keys()])]
    .filter((begin) => migrated.get(begin) !== wanted.get(begin))
    .map((begin) => {
      const statement = moveTriggers.find(
        (one) => one.trimStart().split(/ (?:AFTER|BEFORE) |\(/)[0] === begin
      )
      return `The table of moves has changed. Write a migration ${statement === undefined ? `that drops the result of ${begin}` : `with:${statement}`}`
    })
})

describe("the migrations make the triggers of the table", () => {
  test("in a new database", async () => {
    expect(await run(missingFromMigrations)).toEqual([])
  })

  test("in a database of 0.1.0", async () => {
    const upgraded = Effect.gen(function* () {
      const url = yield* ownDatabase()
      const fixture = yield* Effect.acquireRelease(
        Effect.sync(() => new SQL(url, { max: 1 })),
        (open) => Effect.promise(() => open.close())
      )
      yield* Effect.promise(() => fixture.file(join(root, "test/instances/upgrade/database-0.1.0.sql")))
      return yield* Effect.andThen(migrate(migrations, "of the test"), missingFromMigrations).pipe(
        Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      )
    })
    expect(await Effect.runPromise(Effect.scoped(upgraded))).toEqual([])
  })
})

describe("the table", () => {
  test("is that of docs/contract.md, section 3", () => {
    expect(readFileSync(join(root, "docs/contract.md"), "utf8")).toContain(`\n${paymentTable()}\n`)
  })

  test("a payment's status is changed by one file, and inserted by one", () => {
    const writersBy = (statement: RegExp) =>
      [...new Glob("src/**/*.ts").scanSync(root)].filter((file) =>
        statement.test(readFileSync(join(root, file), "utf8"))
      )
    expect(writersBy(/UPDATE payments\b(?:(?!`).)*?SET status/s)).toEqual([
      "src/payments/PaymentRepo/paymentStatusSql.ts"
    ])
    expect(writersBy(/INSERT INTO payments\b/)).toEqual(["src/payments/PaymentRepo/openingSql.ts"])
  })
})
