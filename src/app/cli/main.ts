// The operator's commands. They work on the configured database, even while the service is running. Exit
// codes: 0 success, 1 failure, 2 invalid command or arguments, 130 interrupted.
import { BunRuntime, BunServices } from "@effect/platform-bun"
import { Cause, Console, Effect, Layer, Logger } from "effect"
import { CliError, Command } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as Database from "../../platform/Database.ts"
import { asTyped, typedCommands } from "../../platform/typedCommands.ts"
import * as App from "../App.ts"
import { agent } from "./agent.ts"
import { audit } from "./audit.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { completions } from "./completions.ts"
import { backup, database, restore } from "./database.ts"
import { doctor } from "./doctor.ts"
import { exportBooks } from "./export.ts"
import { init } from "./init.ts"
import { key } from "./key.ts"
import { layerBooks } from "./layerBooks.ts"
import { link } from "./link.ts"
import { merchant } from "./merchant.ts"
import * as presentation from "./presentation.ts"
import { user } from "./user.ts"
import { webhook } from "./webhook.ts"

const config = AppConfig.layer(process.env)
// Built only when a command runs: help and completions use no database.
const operator = App.layerOperator.pipe(Layer.provideMerge(config))

const bookkeeper = layerBooks.pipe(Layer.provideMerge(operator))

const copies = Database.layerCopy.pipe(Layer.provideMerge(config))

const faucetOperator = App.layerFaucetOperator.pipe(Layer.provideMerge(config))

/** The command for the help. Completions are for a command of one word. */
const isCompletion = process.argv.some((word) => /^(--)?completions/.test(word))
const typed = isCompletion ? "quittance" : asTyped("bun run cli")

const root = Command.make(typed).pipe(
  Command.withDescription(
    "Operate Quittance: set-up and checks, merchants and what they own, the audit log and the database."
  ),
  Command.withSubcommands([
    init.pipe(Command.provide(SecureRandom.layerWebCrypto)),
    doctor.pipe(Command.provide(config)),
    merchant.pipe(Command.provide(operator)),
    user.pipe(Command.provide(operator)),
    key.pipe(Command.provide(operator)),
    webhook.pipe(Command.provide(operator)),
    audit.pipe(Command.provide(operator)),
    exportBooks.pipe(Command.provide(bookkeeper)),
    agent.pipe(Command.provide(faucetOperator)),
    backup.pipe(Command.provide(copies)),
    restore.pipe(Command.provide(copies)),
    database.pipe(Command.provide(copies)),
    link.pipe(Command.provide(operator)),
    completions((): Command.Command.Any => root)
  ])
)

/** Standard output contains only the result, so logs go to standard error. */
const logs = Logger.layer([Logger.withConsoleError(Logger.formatSimple)])

// Annotated, because the installed types of BunServices refer to a module that has moved.
const platform: Layer.Layer<Command.Environment> = BunServices.layer

const sentence = (error: unknown): string => {
  if (error instanceof CommandFailed) return error.message
  return error instanceof Error ? error.message : String(error)
}

const end = (code: number) => Effect.sync(() => process.exit(code))

const program: Effect.Effect<void> = Command.run(root, { version: "0.1.0" }).pipe(
  Effect.provide(platform),
  Effect.provide(presentation.layer),
  Effect.provide(logs),
  Effect.catchCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return end(130)
    const error = Cause.squash(cause)
    // The parser has already printed the error.
    return CliError.isCliError(error)
      ? end(2)
      : Effect.andThen(
          presentation.printError(
            sentence(error),
            undefined,
            error instanceof CommandFailed ? error.fields : {}
          ),
          end(1)
        )
  }),
  Effect.provideService(Console.Console, typedCommands)
)

BunRuntime.runMain(program, { disableErrorReporting: true })
