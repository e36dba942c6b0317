// Starts the service configured by the environment. Nothing else.
import "effect/schema/SchemaJITCompiler/enable"
import { BunRuntime } from "@effect/platform-bun"
import { Cause, Console, Effect, Layer, Option } from "effect"
import * as App from "./App.ts"
import { AppConfig } from "./AppConfig.ts"

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* AppConfig
    const database =
      config.database._tag === "Postgres"
        ? "Postgres"
        : `the embedded Postgres in ${config.database.directory}`
    yield* Console.log(`Quittance listens on ${config.baseUrl}, on ${database}.`)
    yield* Console.log(`Dashboard: ${config.baseUrl}/dashboard, API reference: ${config.baseUrl}/docs`)
    if (Option.isNone(config.faucet.privateKey)) {
      yield* Console.log("The faucet is off: set FAUCET_PRIVATE_KEY to grant test funds.")
    }
  })
)

/** What stopped the start, as a sentence that names the setting to change. */
const refusalOf = (error: unknown): string => {
  const message =
    error instanceof Error && error.message !== "" ? error.message : `The start failed: ${String(error)}`
  return /port \d+ in use|EADDRINUSE/i.test(message)
    ? `PORT: wants a free port; ${process.env["PORT"] ?? "8787"} is taken. Set PORT to another.`
    : message
}

const service = announce.pipe(Layer.provideMerge(App.layer), Layer.provide(AppConfig.layer(process.env)))

Layer.launch(service).pipe(
  // A refusal is a sentence for the operator, not a stack trace.
  Effect.catchCause((cause) => {
    const message = refusalOf(Cause.squash(cause))
    return Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.andThen(
          Console.error(message),
          Effect.sync(() => process.exit(1))
        )
  }),
  BunRuntime.runMain({ disableErrorReporting: true })
)
