// The networks on which payments settle: those that the table opens (src/domain/networks.ts) and those that the
// operator opens. A closed network stores reports, settles nothing and watches no transfers. A network that is closed
// again still settles what is in progress, and accepts nothing new.
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { Env } from "../domain/Chain.ts"
import { envs, networks } from "../domain/networks.ts"
import { AppConfig } from "./AppConfig.ts"
import { isUnderWay } from "./database/isUnderWay.ts"

export interface Networks {
  readonly executes: (env: Env) => boolean
  /** True if the network accepts new payments: they settle on it, and the operator has not closed it. */
  readonly begins: (env: Env) => boolean
  /** True if only what is in progress still settles on it, because the operator has closed it. */
  readonly isClosing: (env: Env) => boolean
  /** The environments of the networks on which payments settle, test first. */
  readonly executing: ReadonlyArray<Env>
}

/** `closing`: only what is in progress still settles. */
export type NetworkState = "open" | "closing" | "closed"

export const stateOf = ({ executes, isClosing }: Networks, env: Env): NetworkState =>
  isClosing(env) ? "closing" : executes(env) ? "open" : "closed"

const make = (opened: ReadonlyArray<Env>, closing: ReadonlyArray<Env> = []): Networks => {
  const executes = (env: Env) =>
    networks[env].execution === "open" || opened.includes(env) || closing.includes(env)
  return {
    executes,
    begins: (env) => executes(env) && !closing.includes(env),
    isClosing: (env) => closing.includes(env),
    executing: envs.filter(executes)
  }
}

/** Without a layer, the networks that no setting has to open. */
export const Networks = Context.Reference<Networks>("quittance/platform/Networks", {
  defaultValue: () => make([])
})

/** Opens these networks as well. */
export const layerOpenNetworks = (
  opened: ReadonlyArray<Env>,
  closing: ReadonlyArray<Env> = []
): Layer.Layer<never> => Layer.succeed(Networks, make(opened, closing))

/** Opens the configured networks. A network that is closed again is closing while anything on it is in progress. */
export const layerConfig: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient> = Layer.effect(
  Networks,
  Effect.gen(function* () {
    const { opened } = yield* AppConfig
    const closed = envs.filter((env) => networks[env].execution !== "open" && !opened.includes(env))
    const closing = yield* Effect.filter(closed, isUnderWay)
    for (const env of closing)
      yield* Effect.logWarning(
        `${networks[env].name} is closing. Payments and refunds in progress are still settled; no new intents are signed. Restart once none is left.`
      )
    return make(opened, closing)
  })
)
