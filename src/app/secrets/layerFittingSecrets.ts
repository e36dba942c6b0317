// The configured secrets on a database that they fit: the start and the operator's commands refuse another key under
// a known name, say what else does not fit in a line each, and store by what a secret is recognised from then on.
import { Data, DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { MnemonicFits } from "../../chain/wallets/MnemonicFits.ts"
import { byEnv, networks } from "../../domain/networks.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { SecretBox } from "../../platform/SecretBox.ts"
import { SecretUseRepo } from "./SecretUseRepo.ts"
import { compareSecrets, type Misfit } from "./secretMisfits.ts"

/** A secret is not the one that the database was used with. `message` is a line for each. */
export class SecretRefusal extends Data.TaggedError("SecretRefusal")<{ readonly message: string }> {}

const refuse = Effect.fnUntraced(function* (misfits: ReadonlyArray<Misfit>) {
  const refused = misfits.filter(({ level }) => level === "refused")
  if (refused.length > 0)
    return yield* new SecretRefusal({ message: refused.map(({ message }) => message).join("\n") })
})

export const layerFittingSecrets: Layer.Layer<
  never,
  SecretRefusal,
  AppConfig | SecretBox | SqlClient.SqlClient
> = Layer.unwrap(
  Effect.gen(function* () {
    const repo = yield* SecretUseRepo
    const { misfits, named, unnamed } = yield* compareSecrets(false)
    yield* refuse(misfits)
    const at = yield* DateTime.nowAsDate
    yield* Effect.forEach(named, (one) => repo.record(one, at), { discard: true })
    yield* Effect.forEach(unnamed, (one) => repo.replace(one, at), { discard: true })
    // Another instance may have stored its key under the name in between.
    if (named.length > 0) yield* refuse((yield* compareSecrets(false)).misfits)
    yield* Effect.forEach(
      misfits,
      ({ level, message }) => (level === "stopped" ? Effect.logError(message) : Effect.logWarning(message)),
      { discard: true }
    )
    return Layer.succeed(
      MnemonicFits,
      byEnv(
        (env) =>
          !misfits.some(
            ({ level, variable }) => variable === networks[env].wallets.setting && level === "stopped"
          )
      )
    )
  })
).pipe(Layer.provide(SecretUseRepo.layer))
