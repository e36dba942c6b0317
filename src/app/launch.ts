// Runs the service as a process: announces it, turns a refusal into one line, and
// stops it gracefully on SIGTERM and SIGINT with exit code 0.
import { BunRuntime } from "@effect/platform-bun"
import { Cause, Console, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { networks } from "../domain/networks.ts"
import { misspeltVariables } from "../platform/AppConfig/misspeltVariables.ts"
import { processSlotIn } from "../platform/AppConfig/processCount.ts"
import { variables } from "../platform/AppConfig/settings.ts"
import { startWarnings } from "../platform/AppConfig/startWarnings.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { typedCommands } from "../platform/typedCommands.ts"
import * as Logs from "./telemetry/Logs.ts"
import * as Otlp from "./telemetry/Otlp.ts"

/** The limit of a graceful stop. Another instance takes over work in flight when its lease expires. */
const stopMillis = 20_000

const announce = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* AppConfig
    // Built last, so that it is released first on shutdown.
    yield* Effect.addFinalizer(() =>
      Effect.andThen(
        Effect.sync(() => setTimeout(() => process.exit(1), stopMillis).unref()),
        Effect.logInfo("Shutting down: finishing the work in progress, accepting no new work")
      )
    )
    // If there are several processes, only the first announces the service.
    if (Option.exists(config.processSlot, ({ isFirst }) => !isFirst)) return
    const say = config.environment === "production" ? Effect.logInfo : Console.log
    const database =
      config.database._tag === "Postgres"
        ? "Postgres"
        : `the embedded Postgres in ${config.database.directory}`
    yield* say(`Quittance is listening on ${config.baseUrl} and uses ${database}.`)
    yield* say(`Dashboard: ${config.baseUrl}/dashboard, documentation: ${config.baseUrl}/docs`)
    for (const env of config.opened)
      yield* say(`Payments on ${networks[env].name} are open: they take real money.`)
    for (const warning of [...startWarnings(config), ...misspeltVariables(process.env, variables)])
      yield* Effect.logWarning(warning)
    if (Option.isNone(config.faucet.privateKey)) {
      yield* say("The faucet is off: set FAUCET_PRIVATE_KEY to grant test funds.")
    }
  })
)

/** Log lines say which of several processes wrote them. */
const withProcessNumber = (env: Readonly<Record<string, string | undefined>>) => {
  const processSlot = processSlotIn(env)
  return Effect.annotateLogs(processSlot === undefined ? {} : { process: processSlot.number })
}

/** The reason why the start failed, as a sentence with the setting to change. */
const refusalOf = (error: unknown): string => {
  const message =
    error instanceof Error && error.message !== "" ? error.message : `The start failed: ${String(error)}`
  return /port \d+ in use|EADDRINUSE/i.test(message)
    ? `PORT must be a free port; ${process.env["PORT"] ?? "8787"} is taken. Set PORT to another.`
    : message
}

/** Runs the service, configured by the environment, until a signal stops it. */
export const launch = <A, E>(service: Layer.Layer<A, E, AppConfig>): void =>
  announce.pipe(
    Layer.provideMerge(service),
    // Built on top of the loggers, because it adds its own.
    Layer.provide(Otlp.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))),
    Layer.provide(Logs.layer),
    Layer.provide(AppConfig.layer(process.env)),
    Layer.launch,
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
    withProcessNumber(process.env),
    Effect.provideService(Console.Console, typedCommands),
    BunRuntime.runMain({
      disableErrorReporting: true,
      teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
    })
  )
