// The database refuses every move of money that is not in the table, whoever writes it; every move in the table
// succeeds.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { Glob, SQL } from "bun"
import { Effect, Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import {
  type Entity,
  entities,
  paymentTable,
  statesOf,
  transitionsOf
} from "../../../src/domain/transitions.ts"
import { migrate } from "../../../src/platform/database/migrate.ts"
import { migrations } from "../../../src/platform/database/migrations.ts"
import { sqlStateOf } from "../../../src/platform/database/sqlStateOf.ts"
import { transitionRefused, transitionTriggers } from "../../../src/platform/database/transitionTriggers.ts"
import { testDatabase } from "../../support/database.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"

setDefaultTimeout(60_000)

const root = join(import.meta.dir, "../../..")
const id = "00000000-0000-4000-8000-000000000001"
const bytes = (length: number, digit = "a") => `decode(repeat('${digit}', ${2 * length}), 'hex')`

type Columns = Readonly<Record<string, string>>

/** The columns of each entity's row that do not depend on its state. */
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

/** Marked as not the service's, because the service's statements are checked for sequential scans. */
const own = (statement: string) => `/* of a test */ ${statement}`

/** The columns that each state has. */
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

/** The outcome of the statement after `before`, whose rows are written without triggers; everything is rolled back. */
const outcomeOf = (before: string | undefined, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const role = (name: string) => sql.unsafe(`SET LOCAL session_replication_role = ${name}`)
    return yield* sql
      .withTransaction(
        Effect.gen(function* () {
          // Foreign keys are not under test here.
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

    test("allows the transitions in the table, and no other", async () => {
      const transitions = transitionsOf(entity).filter(({ requires }) => requires !== "it is of a refund")
      const wanted = new Map<string, string>()
      const found = new Map<string, string>()
      await run(
        Effect.gen(function* () {
          for (const from of [null, ...all])
            for (const to of [null, ...all]) {
              if (from === null && to === null) continue
              const name = `${from ?? "none"} to ${to ?? "none"}`
              const isTransition = transitions.some((move) => move.from === from && move.to === to)
              wanted.set(name, isTransition || from === to ? "went through" : transitionRefused)
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
/** The columns once money has moved. */
const afterwards = {
  payments: {
    states: ["settled"],
    changed: { payer_address: bytes(20, "b"), transaction_id: bytes(32, "b"), token_changes: "'[1]'" }
  },
  incoming_transfers: { states: ["paid"], changed: { payment_id: other } },
  refunds: {
    states: ["proven", "dropped"],
    changed: { sender: bytes(20, "b"), transaction_id: bytes(32, "b") }
  },
  x402_settlements: { states: ["settled", "delivered"], changed: { transaction_id: bytes(32, "b") } }
}

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
      "a dropped claim of a refund is deleted",
      rowIn("claimed_transfers", "dropped", refunds),
      "DELETE FROM claimed_transfers",
      true
    ],
    [
      "a valid claim of a refund is not deleted",
      rowIn("claimed_transfers", "held", refunds),
      "DELETE FROM claimed_transfers",
      false
    ],
    [
      "a dropped claim of a payment is not deleted",
      rowIn("claimed_transfers", "dropped"),
      "DELETE FROM claimed_transfers",
      false
    ],
    [
      "a final claim does not drop",
      rowIn("claimed_transfers", "held", { watch_at: "NULL" }),
      moveTo("claimed_transfers", "held", "dropped"),
      false
    ],
    [
      "a valid claim does not change its transfer",
      rowIn("claimed_transfers", "held"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}`,
      false
    ],
    [
      "a dropped claim does not change its transfer without a replacement",
      rowIn("claimed_transfers", "dropped"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}`,
      false
    ],
    [
      "a dropped claim moves to another transfer",
      rowIn("claimed_transfers", "dropped"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}, dropped_at = NULL`,
      true
    ],
    [
      "a claim moves to another block",
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
      "a claim of a payment does not become a refund's",
      rowIn("claimed_transfers", "held"),
      `UPDATE claimed_transfers SET payment_id = NULL, refund_id = ${other}`,
      false
    ],
    [
      "a dropped claim does not move to another payment together with a transfer",
      rowIn("claimed_transfers", "dropped"),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}, dropped_at = NULL, payment_id = ${other}`,
      false
    ],
    [
      "a dropped claim does not move to a smaller transfer",
      rowIn("claimed_transfers", "dropped", { amount: "2" }),
      `UPDATE claimed_transfers SET transaction_id = ${bytes(32, "b")}, dropped_at = NULL, amount = 1`,
      false
    ],
    ...Object.entries(afterwards).flatMap(([entity, columns]) =>
      entities
        .filter((one) => one === entity)
        .flatMap((one) =>
          columns.states.flatMap((state) =>
            Object.entries(columns.changed).map(
              ([column, value]) =>
                [
                  `${one} that are ${state} keep their ${column}`,
                  rowIn(one, state),
                  `UPDATE ${one} SET ${column} = ${value}`,
                  false
                ] as const
            )
          )
        )
    ),
    [
      "a payment does not settle with another amount",
      rowIn("payments", "pending"),
      `UPDATE payments SET ${sets(states.payments["settled"] ?? {})}, amount = 2`,
      false
    ],
    [
      "a pending settlement's transaction may change",
      rowIn("x402_settlements", "reserved"),
      `UPDATE x402_settlements SET transaction_id = ${bytes(32, "b")}`,
      true
    ],
    [
      "a settled payment's other columns may change",
      rowIn("payments", "settled"),
      "UPDATE payments SET settled_at = now()",
      true
    ],
    [
      "a proven refund that drops does not change its amount",
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
      expect(await run(outcomeOf(before, statement))).toBe(goes ? "went through" : transitionRefused)
    )
})

/** Whose money it is, how much, and what for. */
const identity: { readonly [E in Entity]: Columns } = {
  payments: {
    id: other,
    merchant_id: other,
    env: "'live'",
    amount: "2",
    receiver: bytes(20, "b"),
    ref_code: "'PAY-00000002'",
    intent_url: "'v'"
  },
  claimed_transfers: {
    chain_id: "42161",
    payer: bytes(20, "b"),
    receiver: bytes(20, "b"),
    amount: "2",
    payment_id: other
  },
  incoming_transfers: {
    id: other,
    env: "'live'",
    chain_id: "42161",
    transaction_id: bytes(32, "b"),
    payer: bytes(20, "b"),
    receiver: bytes(20, "b"),
    amount: "2",
    ordinal: "1"
  },
  refunds: {
    id: other,
    merchant_id: other,
    env: "'live'",
    payment_id: other,
    amount: "2",
    recipient: bytes(20, "b")
  },
  x402_settlements: {
    id: other,
    merchant_id: other,
    env: "'live'",
    payment_id: other,
    chain_id: "42161",
    asset: bytes(20, "b"),
    payer: bytes(20, "b"),
    nonce: bytes(32, "b"),
    receiver: bytes(20, "b"),
    amount: "2"
  }
}

for (const entity of entities)
  test(`${entity} never change whose money they are, how much, or what for`, async () => {
    const outcomes = new Map<string, string>()
    await run(
      Effect.gen(function* () {
        for (const state of statesOf(entity))
          for (const [column, value] of Object.entries(identity[entity]))
            outcomes.set(
              `${state}: ${column}`,
              yield* outcomeOf(rowIn(entity, state), `UPDATE ${entity} SET ${column} = ${value}`)
            )
      })
    )
    expect([...outcomes].filter(([, outcome]) => outcome !== transitionRefused)).toEqual([])
  })

/** Every function and trigger that refuses a move, with its statement in a migration. */
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

/** The changes that a migration must make so that the database has exactly the table's triggers. */
const missingFromMigrations = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const migrated = yield* refusals
  for (const begin of migrated.keys())
    if (begin.includes(" FUNCTION ")) yield* sql.unsafe(`DROP FUNCTION ${begin.split(" ").at(-1)} CASCADE`)
  for (const statement of transitionTriggers) yield* sql.unsafe(statement)
  const wanted = yield* refusals
  return [...new Set([...migrated.keys(), ...wanted.keys()])]
    .filter((begin) => migrated.get(begin) !== wanted.get(begin))
    .map((begin) => {
      const statement = transitionTriggers.find(
        (one) => one.trimStart().split(/ (?:AFTER|BEFORE) |\(/)[0] === begin
      )
      return `The table of transitions has changed. Write a migration ${statement === undefined ? `that drops the result of ${begin}` : `with:${statement}`}`
    })
})

describe("the migrations create the table's triggers", () => {
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

describe("the table of transitions", () => {
  test("equals that of docs/contract.md, section 3", () => {
    expect(readFileSync(join(root, "docs/contract.md"), "utf8")).toContain(`\n${paymentTable()}\n`)
  })

  test("one file updates a payment's status, and one inserts it", () => {
    const writersBy = (statement: RegExp) =>
      [...new Glob("src/**/*.ts").scanSync(root)].filter((file) =>
        statement.test(readFileSync(join(root, file), "utf8"))
      )
    expect(writersBy(/UPDATE payments\b[^`]*?\bSET\b(?:(?!WHERE|FROM|`).)*?\bstatus =/s)).toEqual([
      "src/payments/PaymentRepo/paymentStatusSql.ts"
    ])
    expect(writersBy(/INSERT INTO payments\b/)).toEqual(["src/payments/PaymentRepo/openingSql.ts"])
  })
})
