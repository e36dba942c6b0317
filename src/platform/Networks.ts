// Which networks execute: what their table says (src/domain/networks.ts), and what the operator has opened. A network
// that does not execute keeps reports and settles nothing; nobody watches its transfers. One that is closed again goes
// on executing until what is under way has ended, and begins nothing new.
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { Env } from "../domain/Chain.ts"
import { envs, networks } from "../domain/networks.ts"
import { AppConfig } from "./AppConfig.ts"
import { isUnderWay } from "./database/isUnderWay.ts"

export interface Networks {
  readonly executes: (env: Env) => boolean
  /** True if it executes only what is under way: the operator has closed it. */
  readonly isClosing: (env: Env) => boolean
  /** The environments that execute payments, test first. */
  readonly executing: ReadonlyArray<Env>
}

/** `closing`: only what is under way executes. */
export type NetworkState = "open" | "closing" | "closed"

export const stateOf = ({ executes, isClosing }: Networks, env: Env): NetworkState =>
  isClosing(env) ? "closing" : executes(env) ? "open" : "closed"

const make = (opened: ReadonlyArray<Env>, closing: ReadonlyArray<Env> = []): Networks => {
  const executes = (env: Env) =>
    networks[env].execution === "open" || opened.includes(env) || closing.includes(env)
  return {
    executes,
    isClosing: (env) => closing.includes(env),
    executing: envs.filter(executes)
  }
}

/** Without a layer, those that no setting has to open. */
export const Networks = Context.Reference<Networks>("quittance/platform/Networks", {
  defaultValue: () => make([])
})

/** With these opened as well. */
export const layerOpened = (
  opened: ReadonlyArray<Env>,
  closing: ReadonlyArray<Env> = []
): Layer.Layer<never> => Layer.succeed(Networks, make(opened, closing))

/** What the settings open. A network that was read before and is closed now executes while anything is under way. */
export const layerConfig: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient> = Layer.effect(
  Networks,
  Effect.gen(function* () {
    const { opened } = yield* AppConfig
    const closed = envs.filter((env) => networks[env].execution !== "open" && !opened.includes(env))
    const closing = yield* Effect.filter(closed, isUnderWay)
    for (const env of closing)
      yield* Effect.logWarning(
        `${networks[env].name} is closed, and payments or refunds are under way on it: they are still settled and watched, and no new intents are signed until a start finds none`
      )
    return make(opened, closing)
  })
)
