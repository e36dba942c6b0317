// Which networks execute: what their table says (src/domain/networks.ts), and what the operator has opened. A network
// that does not execute keeps reports and settles nothing; nobody watches its transfers.
import { Context, Layer } from "effect"
import type { Env } from "../domain/Chain.ts"
import { envs, networks, walletNetwork } from "../domain/networks.ts"

export interface Networks {
  readonly executes: (env: Env) => boolean
  /** Whether it also has the service's own wallets: authorizations are relayed there, and agents pay. */
  readonly relays: (env: Env) => boolean
  /** Those that do, test first. */
  readonly executing: ReadonlyArray<Env>
}

const make = (opened: ReadonlyArray<Env>): Networks => {
  const executes = (env: Env) => networks[env].execution === "open" || opened.includes(env)
  return {
    executes,
    relays: (env) => env === walletNetwork.env && executes(env),
    executing: envs.filter(executes)
  }
}

/** Without a layer, those that no setting has to open. */
export const Networks = Context.Reference<Networks>("quittance/platform/Networks", {
  defaultValue: () => make([])
})

/** With these opened as well. */
export const layerOpened = (opened: ReadonlyArray<Env>): Layer.Layer<never> =>
  Layer.succeed(Networks, make(opened))
