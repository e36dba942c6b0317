// Partitions by time, on a live database. A table becomes the first partition of a new
// one of its name: no row is copied, and others wait only for what a catalogue change takes.
import { Cause, DateTime, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { afterLongTransactions } from "./afterLongTransactions.ts"
import { DatabaseRefusal } from "./DatabaseRefusal.ts"
import { causeOf, migratingAlone, named, withShortLocks } from "./migrate.ts"
import { boundOf, removeBounds } from "./partitionBounds.ts"

/** What is divided, and by what. Ids of payments are of version 7: they begin with their time. */
const divided = [
  {
    table: "payments",
    key: "id",
    bound: (at: Date) =>
      at
        .getTime()
        .toString(16)
        .padStart(12, "0")
        .replace(/^(.{8})(.{4})$/, "$1-$2-0000-0000-000000000000")
  },
  { table: "webhook_deliveries", key: "created_at", bound: (at: Date) => at.toISOString() }
] as const
type Divided = (typeof divided)[number]

/** Quarters of a year that have a partition of their own ahead of time. */
const quartersAhead = 4

export interface Partitioned {
  readonly table: string
  readonly partitions: ReadonlyArray<string>
  /** When to run it again. Later rows go to the last partition; nothing fails. */
  readonly until: Date
}

const Names = Schema.Array(Schema.Struct({ name: Schema.String }))
const Definitions = Schema.Array(
  Schema.Struct({ name: Schema.String, definition: Schema.String, child: Schema.String })
)
const Indexes = Schema.Array(
  Schema.Struct({
    name: Schema.String,
    definition: Schema.String,
    is_unique: Schema.Boolean,
    is_primary: Schema.Boolean
  })
)
type Links = typeof Definitions.Type

const decodeNames = Schema.decodeUnknownEffect(Names)
const decodeDefinitions = Schema.decodeUnknownEffect(Definitions)
const decodeIndexes = Schema.decodeUnknownEffect(Indexes)
const decodeKind = Schema.decodeUnknownEffect(
  Schema.Tuple([Schema.Struct({ kind: Schema.String, tail: Schema.NullOr(Schema.String) })])
)

/** First instant of the quarter that follows. */
const quarterAfter = (at: Date) =>
  new Date(Date.UTC(at.getUTCFullYear(), 3 * Math.floor(at.getUTCMonth() / 3) + 3))
const nameOf = (table: string, at: Date) =>
  `${table}_${at.getUTCFullYear()}_q${Math.floor(at.getUTCMonth() / 3) + 1}`
const tailOf = (table: string) => `${table}_later`

const make = (sql: SqlClient.SqlClient) => {
  const run = (text: string) => sql.unsafe(text)
  const foreignKeysWhere = (side: "conrelid" | "confrelid") => (table: string) =>
    Effect.flatMap(
      sql`
        SELECT conname AS name, pg_get_constraintdef(oid) AS definition, conrelid::regclass::text AS child
        FROM pg_constraint
        WHERE contype = 'f' AND conparentid = 0 AND ${sql(side)} = to_regclass(${table}) ORDER BY 1`,
      decodeDefinitions
    )
  /** Of others, on the table. */
  const foreignKeys = foreignKeysWhere("confrelid")
  /** Of the table, on others. */
  const ownForeignKeys = foreignKeysWhere("conrelid")
  const indexesOf = (table: string) =>
    Effect.flatMap(
      sql`
        SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition, i.indisunique AS is_unique,
          i.indisprimary AS is_primary
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass(${table}) ORDER BY 1`,
      decodeIndexes
    )

  /** Proves that no row lies beyond the bound, so that attaching the table has nothing to look at. */
  const boundedBy = Effect.fnUntraced(function* ({ bound, key }: Divided, table: string, end: Date) {
    yield* withShortLocks(
      run(`ALTER TABLE ${table} ADD CONSTRAINT ${boundOf(table)} CHECK (${key} < '${bound(end)}') NOT VALID`)
    )
    yield* run(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${boundOf(table)}`)
  })

  const unlink = (links: Links) =>
    Effect.forEach(links, ({ child, name }) => run(`ALTER TABLE ${child} DROP CONSTRAINT ${name}`), {
      discard: true
    })
  /** Holds from now on; `prove` looks at the rows that are there. */
  const link = (table: string, links: Links) =>
    Effect.forEach(
      links,
      ({ child, definition, name }) => {
        const target = definition
          .replace(" NOT VALID", "")
          .replace(/REFERENCES \S+?\(/, `REFERENCES ${table}(`)
        return run(`ALTER TABLE ${child} ADD CONSTRAINT ${name} ${target} NOT VALID`)
      },
      { discard: true }
    )
  const prove = (table: string) =>
    Effect.flatMap(foreignKeys(table), (links) =>
      Effect.forEach(links, ({ child, name }) => run(`ALTER TABLE ${child} VALIDATE CONSTRAINT ${name}`), {
        discard: true
      })
    )

  /** The partitions from `start` on, and the last one, which has no end. `first` has what the others are to have. */
  const addQuarters = Effect.fnUntraced(function* ({ bound, table }: Divided, first: string, start: Date) {
    const unique = (yield* indexesOf(first)).filter(({ is_unique }) => is_unique)
    const links = yield* ownForeignKeys(first)
    const inherited = (yield* indexesOf(table)).filter(({ is_unique }) => is_unique).length
    const create = Effect.fnUntraced(function* (name: string, from: string, to: string) {
      yield* run(`CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES FROM (${from}) TO (${to})`)
      for (const index of unique) {
        if (index.is_primary && inherited > 0) continue
        const columns = index.definition.slice(index.definition.indexOf("("))
        yield* run(
          index.is_primary
            ? `ALTER TABLE ${name} ADD PRIMARY KEY ${columns}`
            : `CREATE UNIQUE INDEX ON ${name} ${columns}`
        )
      }
      for (const { definition } of links)
        yield* run(`ALTER TABLE ${name} ADD ${definition.replace(" NOT VALID", "")}`)
    })
    const names: Array<string> = []
    let from = start
    for (let quarter = 0; quarter < quartersAhead; quarter++) {
      const to = quarterAfter(from)
      yield* create(nameOf(table, from), `'${bound(from)}'`, `'${bound(to)}'`)
      names.push(nameOf(table, from))
      from = to
    }
    yield* create(tailOf(table), `'${bound(from)}'`, "MAXVALUE")
    return { partitions: [...names, tailOf(table)], until: from }
  })

  /** A plain table becomes the first partition. */
  const convert = Effect.fnUntraced(function* (one: Divided, end: Date) {
    const { bound, key, table } = one
    const first = `${table}_before_${nameOf("", end).slice(1)}`
    yield* boundedBy(one, table, end)
    const added = yield* withShortLocks(
      Effect.gen(function* () {
        yield* run(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
        const indexes = yield* indexesOf(table)
        const links = yield* foreignKeys(table)
        for (const { name } of indexes) yield* run(`ALTER INDEX ${name} RENAME TO ${name}_before`)
        yield* run(`ALTER TABLE ${table} RENAME TO ${first}`)
        yield* run(
          `CREATE TABLE ${table} (LIKE ${first} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (${key})`
        )
        yield* run(`ALTER TABLE ${table} DROP CONSTRAINT ${boundOf(table)}`)
        for (const { definition, is_primary, is_unique, name } of indexes) {
          if (is_primary && key === "id")
            yield* run(`ALTER TABLE ${table} ADD CONSTRAINT ${name} PRIMARY KEY (id)`)
          // What is unique without the key cannot be so over all partitions: each has its own.
          if (!is_unique) yield* run(definition.replace(/ ON (ONLY )?\S+ /, ` ON ONLY public.${table} `))
        }
        yield* run(
          `ALTER TABLE ${table} ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO ('${bound(end)}')`
        )
        yield* run(`ALTER TABLE ${first} DROP CONSTRAINT ${boundOf(table)}`)
        yield* unlink(links)
        // Deliveries are never deleted: what refers to them by their id alone has no foreign key any more.
        if (key === "id") yield* link(table, links)
        return yield* addQuarters(one, first, end)
      })
    )
    yield* prove(table)
    return { ...added, partitions: [first, ...added.partitions] }
  })

  /** The next quarters. Rows that the last partition received get an upper bound. */
  const extend = Effect.fnUntraced(function* (one: Divided, until: Date, soon: Date) {
    const { bound, table } = one
    const tail = tailOf(table)
    const isEmpty = (yield* run(`SELECT 1 FROM ${tail} LIMIT 1`)).length === 0
    const end = until < soon ? soon : quarterAfter(until)
    const taken = `${table}_before_${nameOf("", end).slice(1)}`
    if (!isEmpty) yield* boundedBy(one, tail, end)
    const added = yield* withShortLocks(
      Effect.gen(function* () {
        // A partition that others refer to cannot leave, not even to come back at once.
        const links = isEmpty ? [] : yield* foreignKeys(table)
        yield* unlink(links)
        yield* run(`ALTER TABLE ${table} DETACH PARTITION ${tail}`)
        if (isEmpty && until >= soon) {
          const before = nameOf(table, new Date(until.getTime() - 1))
          // Fails if a row arrived in between: the bound excludes it.
          yield* run(`INSERT INTO ${table} SELECT * FROM ${tail}`)
          yield* run(`ALTER TABLE ${tail} RENAME TO ${tail}_empty`)
          const added = yield* addQuarters(one, before, until)
          yield* run(`DROP TABLE ${tail}_empty`)
          return added
        }
        yield* run(`ALTER TABLE ${tail} RENAME TO ${taken}`)
        yield* run(
          `ALTER TABLE ${table} ATTACH PARTITION ${taken} FOR VALUES FROM ('${bound(until)}') TO ('${bound(end)}')`
        )
        yield* run(`ALTER TABLE ${taken} DROP CONSTRAINT IF EXISTS ${boundOf(tail)}`)
        yield* link(table, links)
        const added = yield* addQuarters(one, taken, end)
        return { ...added, partitions: [taken, ...added.partitions] }
      })
    )
    yield* prove(table)
    return added
  })

  /** Where the last partition with an end ends. */
  const lastEnd = (table: string) =>
    Effect.flatMap(
      sql`
        SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass(${table}) ORDER BY 1`,
      decodeNames
    ).pipe(
      Effect.map((names) =>
        names
          .flatMap(({ name }) => {
            const [, year, quarter] = /_(\d{4})_q([1-4])$/.exec(name) ?? []
            return year === undefined || quarter === undefined || name.includes("_before_")
              ? []
              : [quarterAfter(new Date(Date.UTC(Number(year), 3 * (Number(quarter) - 1))))]
          })
          .reduce((last, end) => Math.max(last, end.getTime()), 0)
      )
    )

  return { convert, extend, lastEnd, prove, run }
}

const leftOver =
  "A bound may still stand on a table, and refuse the rows of the next quarter: run this again, or restart the service; either removes it."

/** Divides the tables that grow with every payment, or adds the next partitions. `where` names the database. */
export const partition = Effect.fn("Database.partition")(function* (
  where: string,
  tell: (line: string) => Effect.Effect<void>
) {
  const sql = yield* SqlClient.SqlClient
  const { convert, extend, lastEnd, prove, run } = make(sql)
  const work = Effect.gen(function* () {
    const now = yield* DateTime.nowAsDate
    const all: Array<Partitioned> = []
    yield* removeBounds
    for (const one of divided) {
      const { table } = one
      const [{ kind, tail }] = yield* decodeKind(
        yield* sql`
          SELECT relkind::text AS kind, to_regclass(${tailOf(table)})::text AS tail FROM pg_class
          WHERE oid = to_regclass(${table})`
      )
      // A day for those whose ids are older than their rows.
      const soon = quarterAfter(new Date(now.getTime() + 24 * 3_600_000))
      const until = kind === "p" ? new Date(yield* lastEnd(table)) : soon
      if (kind === "p" && tail === null)
        return yield* new DatabaseRefusal({
          message: `${table} in the database ${where} has partitions that this command has not made. Nothing of it was changed.`
        })
      yield* tell(`… ${table}`)
      // One that was interrupted may have left it unproven.
      if (kind === "p") yield* prove(table)
      if (kind === "p" && until.getTime() - now.getTime() > 2 * 92 * 24 * 3_600_000) {
        all.push({ table, partitions: [], until })
        continue
      }
      const added = yield* kind === "p" ? extend(one, until, soon) : convert(one, soon)
      yield* run(`ANALYZE ${table}`)
      all.push({ table, ...added })
    }
    return all
  })
  /** Also when it is interrupted: a bound that stayed would refuse the payments of the next quarter. */
  let left = ""
  const asItWas = Effect.suspend(() => removeBounds).pipe(
    Effect.catchCause((cause) => {
      left = causeOf(Cause.squash(cause))
      return tell(leftOver)
    })
  )
  const alone = migratingAlone(
    Effect.onError(named("divides tables", work), () => asItWas),
    where
  )
  // Before it keeps instances from starting.
  return yield* Effect.andThen(afterLongTransactions(tell), alone).pipe(
    Effect.mapError((error) =>
      error instanceof DatabaseRefusal
        ? error
        : new DatabaseRefusal({
            message: `The database ${where} is not partitioned: ${causeOf(error)}. ${
              left === ""
                ? "Each table is as it was, or done; run it again once that is repaired."
                : `${leftOver} It was not removed: ${left}`
            }`
          })
    )
  )
})
