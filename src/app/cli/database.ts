// `backup`, `restore` and `database move`: copies the database to a file or to another database. They work
// while a service is running, on the embedded database and on any other.
import { Console, Effect, Layer, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { pluralised } from "../../domain/pluralised.ts"
import { judgeParameters, parameterRules } from "../../platform/AppConfig/urlParameters.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as Database from "../../platform/Database.ts"
import { readBackup, writeBackup } from "../../platform/database/BackupFile.ts"
import { copyFrom, copyInto, copyLocked, type Manifest, type Sink } from "../../platform/database/Copy.ts"
import { parseDatabaseUrl } from "../../platform/database/DatabaseUrl.ts"
import {
  checkCanBeReadOnly,
  isReadOnly,
  makeReadOnly,
  makeWritable
} from "../../platform/database/makeReadOnly.ts"
import { causeOf } from "../../platform/database/migrate.ts"
import { migrations } from "../../platform/database/migrations.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, print } from "./flags.ts"

const asCommand = (error: unknown) => new CommandFailed({ message: causeOf(error) })

const lines = ({ tables }: Manifest) => [
  ...tables
    .filter(({ rows }) => rows > 0)
    .map(
      ({ checksum, rows, table }) =>
        `  ${table.padEnd(24)} ${String(rows).padStart(9)} ${rows === 1 ? "row " : "rows"}  ${checksum}`
    ),
  `${pluralised(
    tables.reduce((sum, { rows }) => sum + rows, 0),
    "row"
  )} in ${pluralised(tables.length, "table")}, each verified by count and checksum.`
]

const secrets =
  "The backup contains no secrets. Store these separately: INTENT_TOKEN_SECRETS, ENCRYPTION_KEYS, AGENT_WALLET_MNEMONIC, LIVE_WALLET_MNEMONIC and FAUCET_PRIVATE_KEY. In development, secrets.json and agent-wallet.json in DATA_DIR contain the generated ones."

/** Prints the name of each table to standard error when its rows begin. */
const withProgress = (sink: Sink): Sink => {
  let table = ""
  return {
    ...sink,
    rows: (name, rows) => {
      const first = name !== table
      table = name
      return Effect.andThen(first ? Console.error(`… ${name}`) : Effect.void, sink.rows(name, rows))
    }
  }
}

export const backup = Command.make(
  "backup",
  {
    to: Flag.String("to").pipe(Flag.withDescription("The file to write, such as quittance.backup.gz")),
    json
  },
  Effect.fn("backup")(function* (input) {
    const { database: configured } = yield* AppConfig
    const where = Database.describeDatabase(configured)
    const manifest = yield* writeBackup(input.to, (sink) => copyFrom(where, withProgress(sink))).pipe(
      Effect.mapError(asCommand)
    )
    yield* print(input.json, { file: input.to, ...manifest }, [
      ...lines(manifest),
      `Written to ${input.to}, a copy of the database at one moment. ${secrets}`,
      `To restore it into an empty database: bun run cli restore --from ${input.to}`
    ])
  })
).pipe(
  Command.withDescription("Write the whole database to a file, while the service runs"),
  Command.withExamples([
    {
      command: "bun run cli backup --to quittance.backup.gz",
      description: "Writes one file that only its owner can read"
    }
  ])
)

export const restore = Command.make(
  "restore",
  { from: Flag.String("from").pipe(Flag.withDescription("A file written by `backup`")), json },
  Effect.fn("restore")(function* (input) {
    const { database: configured } = yield* AppConfig
    const where = Database.describeDatabase(configured)
    const read = readBackup(input.from)
    const manifest = yield* copyInto(migrations, where, (sink) => read(withProgress(sink))).pipe(
      Effect.tap(() => Database.migrateAndIndex(configured)),
      Effect.mapError(asCommand)
    )
    yield* print(input.json, { database: where, ...manifest }, [
      ...lines(manifest),
      `Restored into the database ${where}. Start the service with the original secrets: bun run start`
    ])
  })
).pipe(
  Command.withDescription("Restore a backup into an empty database, in one transaction"),
  Command.withExamples([
    {
      command: "DATABASE_URL=postgres://… bun run cli restore --from quittance.backup.gz",
      description: "Restores into your own Postgres"
    }
  ])
)

const move = Command.make(
  "move",
  {
    to: Flag.String("to").pipe(
      Flag.withDescription("The empty Postgres to move to, postgres://user:password@host:port/database")
    ),
    closed: Flag.Boolean("closed").pipe(
      Flag.withDescription("Move a database that an earlier move closed to writing"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fn("database move")(function* (input) {
    const { database: configured } = yield* AppConfig
    const from = Database.describeDatabase(configured)
    const target = { _tag: "Postgres" as const, url: Redacted.make(input.to) }
    if (parseDatabaseUrl(input.to) === undefined) {
      return yield* new CommandFailed({
        message: "--to must be a Postgres URL, such as postgres://user:password@host:port/database"
      })
    }
    const [refused] = judgeParameters("--to", input.to, parameterRules.postgres).refused
    if (refused !== undefined) return yield* new CommandFailed({ message: refused })
    const where = Database.describeDatabase(target)
    const here = <A, E>(work: Effect.Effect<A, E, Effect.Services<ReturnType<typeof makeReadOnly>>>) =>
      Effect.provide(work, Layer.fresh(Database.layerCopy))
    // If an earlier run closed the database, it stays closed.
    const wasClosed = yield* here(checkCanBeReadOnly(from)).pipe(Effect.mapError(asCommand))
    if (wasClosed && !input.closed)
      return yield* new CommandFailed({
        message: `The database ${from} was closed to writing by an earlier move. Newer payments may be in another database. If not, pass --closed to move this database as it is, or run \`bun run cli database reopen\` to continue with it.`
      })
    const closed = `the database ${from} accepts no writes until you run: bun run cli database reopen`
    let closing = false
    const undone = Effect.suspend(() =>
      closing && !wasClosed ? here(makeWritable(from)) : Effect.void
    ).pipe(
      Effect.timeout("30 seconds"),
      Effect.as(wasClosed ? closed : `the database ${from} accepts writes as before`),
      Effect.orElseSucceed(() => closed),
      Effect.flatMap((state) =>
        Console.error(`Not moved: ${state}; nothing was stored in the database ${where}.`)
      )
    )
    let moved: Manifest | undefined
    const manifest = yield* copyLocked(from, ({ isLocked, read }) =>
      copyInto(migrations, where, (sink) =>
        Effect.gen(function* () {
          const all = yield* read(withProgress(sink))
          // Runs before the copy is committed: writes that are still waiting here fail.
          closing = true
          yield* here(makeReadOnly(from))
          yield* isLocked
          return all
        })
      ).pipe(
        Effect.provide(Database.layerCopyAt(target.url)),
        Effect.tap((all) =>
          Effect.sync(() => {
            moved = all
          })
        )
      )
    ).pipe(
      // Once moved, errors about locks do not matter: the copy is the shop's database.
      Effect.catch((error) => (moved === undefined ? Effect.fail(error) : Effect.succeed(moved))),
      Effect.onError(() => (moved === undefined ? undone : Effect.void)),
      Effect.mapError(asCommand)
    )
    yield* Database.migrateAndIndex(target).pipe(Effect.mapError(asCommand))
    yield* print(input.json, { from, to: where, ...manifest }, [
      ...lines(manifest),
      `Moved to the database ${where}. The database ${from} stays and accepts no more writes; a service that runs on it returns 503.`,
      "Set DATABASE_URL to the new address and start the service with the original secrets.",
      `To return to the old database, stop the service on the new one and run, with the old configuration: bun run cli database reopen. The old database does not contain what was written since the move.`
    ])
  })
).pipe(
  Command.withDescription(
    "Copy the database to an empty Postgres and close the old one to writing, so that nothing is acknowledged in both"
  ),
  Command.withExamples([
    {
      command: "bun run cli database move --to postgres://quittance:…@db.example.com:5432/quittance",
      description: "From the embedded database to a server"
    }
  ])
)

const reopen = Command.make(
  "reopen",
  { json },
  Effect.fn("database reopen")(function* (input) {
    const { database: configured } = yield* AppConfig
    const where = Database.describeDatabase(configured)
    const wasClosed = yield* isReadOnly(where).pipe(Effect.mapError(asCommand))
    if (wasClosed) yield* makeWritable(where).pipe(Effect.mapError(asCommand))
    yield* print(input.json, { database: where, wasClosed }, [
      wasClosed
        ? `The database ${where} accepts writes again. It does not contain what was written to the other database since the move.`
        : `The database ${where} is open to writing. Nothing was changed.`
    ])
  })
).pipe(
  Command.withDescription("Reopen a database that `database move` closed to writing"),
  Command.withExamples([
    {
      command: "bun run cli database reopen",
      description: "Reverses a move; stop the service on the new database first"
    }
  ])
)

export const database = Command.make("database").pipe(
  Command.withDescription("Move the database to another Postgres"),
  Command.withSubcommands([move, reopen])
)
