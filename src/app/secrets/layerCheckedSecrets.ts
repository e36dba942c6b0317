// The configured secrets, checked against the database. The start and the operator's commands refuse a
// different key under a known name, log every other mismatch, and store the fingerprints of new secrets.
import { Data, DateTime, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { MnemonicMatches } from "../../chain/wallets/MnemonicMatches.ts"
import { byEnv, networks } from "../../domain/networks.ts"
import type { AppConfig } from "../../platform/AppConfig.ts"
import type { SecretBox } from "../../platform/SecretBox.ts"
import { SecretUseRepo } from "./SecretUseRepo.ts"
import { compareSecrets, type SecretMismatch } from "./secretMismatches.ts"

/** A secret differs from the one that the database was used with. `message` has one line per secret. */
export class SecretRefusal extends Data.TaggedError("SecretRefusal")<{ readonly message: string }> {}

const refuse = Effect.fnUntraced(function* (mismatches: ReadonlyArray<SecretMismatch>) {
  const refused = mismatches.filter(({ level }) => level === "refused")
  if (refused.length > 0)
    return yield* new SecretRefusal({ message: refused.map(({ message }) => message).join("\n") })
})

export const layerCheckedSecrets: Layer.Layer<
  never,
  SecretRefusal,
  AppConfig | SecretBox | SqlClient.SqlClient
> = Layer.unwrap(
  Effect.gen(function* () {
    const repo = yield* SecretUseRepo
    const { mismatches, named, unnamed } = yield* compareSecrets(false)
    yield* refuse(mismatches)
    const at = yield* DateTime.nowAsDate
    yield* Effect.forEach(named, (fingerprint) => repo.record(fingerprint, at), { discard: true })
    yield* Effect.forEach(unnamed, (fingerprint) => repo.replace(fingerprint, at), { discard: true })
    // Another instance may have stored its key under this name in between.
    if (named.length > 0) yield* refuse((yield* compareSecrets(false)).mismatches)
    yield* Effect.forEach(
      mismatches,
      ({ level, message }) => (level === "stopped" ? Effect.logError(message) : Effect.logWarning(message)),
      { discard: true }
    )
    return Layer.succeed(
      MnemonicMatches,
      byEnv(
        (env) =>
          !mismatches.some(
            ({ level, variable }) => variable === networks[env].wallets.setting && level === "stopped"
          )
      )
    )
  })
).pipe(Layer.provide(SecretUseRepo.layer))
