// A database's tables in the order that copies need, and their contents: rows, sums and sequences.
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CopyFailed } from "./CopyFailed.ts"

/** A table's checksum: equal rows in any order have equal sums. */
export class TableSum extends Schema.Class<TableSum>("TableSum")({
  table: Schema.String,
  rows: Schema.Int,
  checksum: Schema.String
}) {}

export const SequenceAt = Schema.Struct({ table: Schema.String, column: Schema.String, last: Schema.String })

/** Rows that are read and written at once. */
export const batch = 500
export const history = "effect_sql_migrations"

const decodeNames = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ name: Schema.String })))
const decodeParts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ part: Schema.BigIntFromString })))
const decodeLinks = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ child: Schema.String, parent: Schema.String }))
)
const decodeSequences = Schema.decodeUnknownEffect(Schema.Array(SequenceAt))

/** Makes the same row produce the same text everywhere. */
export const plainTexts = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
      set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true)`
)

export const namesOf = (rows: ReadonlyArray<unknown>) =>
  Effect.map(decodeNames(rows), (all) => all.map(({ name }) => name))

export const tableNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* namesOf(
    // Partitions are read through their table.
    yield* sql`
      SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`
  )
})

/** Parents before children. */
export const orderedTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const links = yield* decodeLinks(
    yield* sql`
      SELECT DISTINCT coalesce(pg_partition_root(conrelid), conrelid)::regclass::text AS child,
        coalesce(pg_partition_root(confrelid), confrelid)::regclass::text AS parent
      FROM pg_constraint
      WHERE contype = 'f' AND conrelid <> confrelid AND connamespace = 'public'::regnamespace`
  )
  const waiting = new Set((yield* tableNames).filter((name) => name !== history))
  const ordered: Array<string> = []
  while (waiting.size > 0) {
    const next = [...waiting].filter(
      (name) => !links.some(({ child, parent }) => child === name && waiting.has(parent))
    )
    if (next.length === 0)
      return yield* new CopyFailed({ message: "The foreign keys of the tables form a cycle" })
    for (const name of next) {
      waiting.delete(name)
      ordered.push(name)
    }
  }
  return ordered
})

/** The columns to write: the database computes the generated ones. */
export const writtenColumns = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* namesOf(
    yield* sql`
      SELECT attname::text AS name FROM pg_attribute
      WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
      ORDER BY attnum`
  )
})

const decodeTriggers = Schema.decodeUnknownEffect(
  Schema.Array(Schema.Struct({ table: Schema.String, trigger: Schema.String }))
)

/**
 * Allows rows in any state, because a copy makes no transitions (src/domain/transitions.ts). Returns the effect that
 * restores the triggers.
 */
export const suspendTriggers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const triggers = yield* decodeTriggers(
    yield* sql`
      SELECT c.relname::text AS table, t.tgname::text AS trigger
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal AND t.tgenabled = 'O'
        AND t.tgparentid = 0`
  )
  for (const { table, trigger } of triggers)
    yield* sql`ALTER TABLE ${sql(table)} DISABLE TRIGGER ${sql(trigger)}`
  return Effect.forEach(
    triggers,
    ({ table, trigger }) => sql`ALTER TABLE ${sql(table)} ENABLE TRIGGER ${sql(trigger)}`,
    { discard: true }
  )
})

/** A row's contribution to its table's checksum. */
export const part = "(('x' || left(md5(row_to_json(t)::text), 15))::bit(60)::bigint)::text AS part"

/** Row by row, so that no statement is silent for as long as a large table takes. */
export const sumOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DECLARE summed NO SCROLL CURSOR FOR SELECT ${sql.literal(part)} FROM ${sql(table)} t`
  let rows = 0
  let checksum = 0n
  for (;;) {
    const parts = yield* decodeParts(yield* sql`FETCH ${sql.literal(String(10 * batch))} FROM summed`)
    if (parts.length === 0) break
    rows += parts.length
    for (const row of parts) checksum += row.part
  }
  yield* sql`CLOSE summed`
  return TableSum.make({ table, rows, checksum: String(checksum) })
})

export const sequences = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* decodeSequences(
    yield* sql`
      SELECT c.relname AS table, a.attname AS column, s.last_value::text AS last
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_sequences s ON s.schemaname = 'public'
        AND format('%I.%I', s.schemaname, s.sequencename) = pg_get_serial_sequence(c.relname, a.attname)
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
        AND NOT a.attisdropped AND s.last_value IS NOT NULL`
  )
})
