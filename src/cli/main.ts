// The operator's commands. They work on the configured database, also while the
// service runs.
import { BunRuntime, BunServices } from "@effect/platform-bun"
import { Cause, Console, Effect, Layer } from "effect"
import { CliError, Command } from "effect/cli"
import * as App from "../App.ts"
import { AppConfig } from "../AppConfig.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { key } from "./key.ts"
import { merchant } from "./merchant.ts"
import { webhook } from "./webhook.ts"

const root = Command.make("quittance").pipe(
  Command.withDescription("Operate Quittance: merchants, keys, webhooks."),
  Command.withSubcommands([merchant, key, webhook]),
  // Built when a command runs: help and completions touch no database.
  Command.provide(App.layerOperator.pipe(Layer.provideMerge(AppConfig.layer(process.env))))
)

// Annotated: the installed typing of BunServices names a module that has moved.
const platform: Layer.Layer<Command.Environment> = BunServices.layer

const sentence = (error: unknown): string => {
  if (error instanceof CommandFailed) return error.message
  const message = error instanceof Error ? error.message : String(error)
  // The embedded database serves one process: the service's, where it runs.
  return message.includes("in use by another process")
    ? `${message} For the CLI, stop the service for a moment.`
    : message
}

const program: Effect.Effect<void> = Command.run(root, { version: "0.1.0" }).pipe(
  Effect.provide(platform),
  Effect.catchCause((cause) => {
    const error = Cause.squash(cause)
    const shown = CliError.isCliError(error) ? Effect.void : Console.error(sentence(error))
    return Effect.andThen(
      shown,
      Effect.sync(() => process.exit(1))
    )
  })
)

BunRuntime.runMain(program, { disableErrorReporting: true })
