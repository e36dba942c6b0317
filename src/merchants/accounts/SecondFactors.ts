// The second factor besides a password: codes of an authenticator app, and recovery codes in case it is lost.
import { createHash } from "node:crypto"
import { Clock, Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { SecondFactorActive, SecondFactorFailed, SecondFactorRequired } from "../../domain/Errors.ts"
import { type Sealed, SecretBox } from "../../platform/SecretBox.ts"
import { authenticatorContext } from "./authenticatorContext.ts"
import { SecondFactorRepo } from "./SecondFactors/SecondFactorRepo.ts"
import { base32, stepOf } from "./SecondFactors/totp.ts"

const recoveryCodes = 10
/** A code is the first ten of the base32 characters of these bytes: 50 bits, in two groups of five. */
const recoveryBytes = 10

const normal = (code: string) => code.replace(/[\s-]/gu, "").toUpperCase()
const hashOf = (code: string): Uint8Array => createHash("sha256").update(normal(code)).digest()

export class SecondFactors extends Context.Service<
  SecondFactors,
  {
    readonly isActive: (userId: string) => Effect.Effect<boolean>
    /**
     * Verifies a code and returns the creation time of its authenticator; null if the user has none. Each code works
     * once.
     */
    readonly verify: (
      userId: string,
      code: string | undefined
    ) => Effect.Effect<Date | null, SecondFactorRequired | SecondFactorFailed>
    /** A new secret in base32. It takes effect once `confirm` has verified one of its codes. */
    readonly begin: (userId: string) => Effect.Effect<string, SecondFactorActive>
    /** The recovery codes, shown only here. */
    readonly confirm: (
      userId: string,
      code: string
    ) => Effect.Effect<ReadonlyArray<string>, SecondFactorFailed>
    /** Ten new codes; the previous codes stop working. */
    readonly renewCodes: (userId: string) => Effect.Effect<ReadonlyArray<string>>
    readonly codesLeft: (userId: string) => Effect.Effect<number>
    /** False if there was none. */
    readonly remove: (userId: string) => Effect.Effect<boolean>
  }
>()("quittance/merchants/SecondFactors") {
  static readonly layer: Layer.Layer<
    SecondFactors,
    never,
    SecretBox | SqlClient.SqlClient | SecureRandom.SecureRandom
  > = Layer.effect(
    SecondFactors,
    Effect.gen(function* () {
      const repo = yield* SecondFactorRepo
      const box = yield* SecretBox
      const random = yield* SecureRandom.SecureRandom

      const newCodes = Effect.map(
        Effect.all(Array.from({ length: recoveryCodes }, () => random.randomBytes(recoveryBytes))),
        (all) =>
          all.map((bytes) => {
            const text = base32(bytes).slice(0, 10)
            return `${text.slice(0, 5)}-${text.slice(5)}`
          })
      )
      const authenticatorOf = (userId: string) => Effect.map(repo.findSecret(userId), Option.getOrUndefined)
      /** Decrypts only for a code of the app: recovery codes work even if the encryption key is lost. */
      const matchingStep = Effect.fnUntraced(function* (userId: string, sealed: Sealed, code: string) {
        const secret = yield* box.open(sealed, authenticatorContext(userId)).pipe(
          Effect.catchDefect((cause) =>
            Effect.andThen(
              Effect.logError(
                `The authenticator secret of user ${userId} cannot be decrypted; only recovery codes sign this user in until the missing key of ENCRYPTION_KEYS is restored`,
                cause
              ),
              Effect.fail(
                new SecondFactorFailed({
                  message:
                    "The service cannot check codes of your app now: its key is missing. Use a recovery code, or ask the operator to restore the key."
                })
              )
            )
          )
        )
        return stepOf(Buffer.from(Redacted.value(secret), "base64"), code, yield* Clock.currentTimeMillis)
      })

      return SecondFactors.of({
        isActive: (userId) =>
          Effect.map(
            repo.findSecret(userId),
            Option.match({ onNone: () => false, onSome: ({ confirmedAt }) => confirmedAt !== null })
          ),
        verify: Effect.fn("SecondFactors.verify")(function* (userId, code) {
          const authenticator = yield* authenticatorOf(userId)
          if (authenticator === undefined || authenticator.confirmedAt === null) return null
          if (code === undefined) return yield* new SecondFactorRequired()
          const entered = normal(code)
          const isCode = /^\d{6}$/u.test(entered)
          const step = isCode ? yield* matchingStep(userId, authenticator.sealed, entered) : undefined
          const isAccepted = isCode
            ? step !== undefined && (yield* repo.useStep(userId, step))
            : yield* repo.useCode(userId, hashOf(entered), yield* DateTime.nowAsDate)
          if (!isAccepted) return yield* new SecondFactorFailed()
          return authenticator.confirmedAt
        }),
        begin: Effect.fn("SecondFactors.begin")(function* (userId) {
          const secret = yield* random.randomBytes(20)
          const text = Redacted.make(Buffer.from(secret).toString("base64"))
          const sealed = yield* box.seal(text, authenticatorContext(userId))
          if (!(yield* repo.begin(userId, sealed, yield* DateTime.nowAsDate)))
            return yield* new SecondFactorActive()
          return base32(secret)
        }),
        confirm: Effect.fn("SecondFactors.confirm")(function* (userId, code) {
          const authenticator = yield* authenticatorOf(userId)
          const step =
            authenticator === undefined || authenticator.confirmedAt !== null
              ? undefined
              : yield* matchingStep(userId, authenticator.sealed, normal(code))
          if (authenticator === undefined || step === undefined) return yield* new SecondFactorFailed()
          const codes = yield* newCodes
          const at = yield* DateTime.nowAsDate
          if (!(yield* repo.confirm(userId, authenticator.sealed, step, codes.map(hashOf), at)))
            return yield* new SecondFactorFailed()
          return codes
        }),
        renewCodes: Effect.fn("SecondFactors.renewCodes")(function* (userId) {
          const codes = yield* newCodes
          yield* repo.replaceCodes(userId, codes.map(hashOf))
          return codes
        }),
        codesLeft: repo.codesLeft,
        remove: repo.remove
      })
    })
  ).pipe(Layer.provide(SecondFactorRepo.layer))
}
