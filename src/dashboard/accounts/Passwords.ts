// Passwords at rest: argon2id, a few at a time, so that a crowd at the door takes
// neither the memory nor the processor of the rest.
import { Context, Effect, Layer, Semaphore } from "effect"

/** Hashes computed at once; each takes 64 MiB (Bun's default cost). */
const concurrent = 2

/** The same characters, however the keyboard composed them. */
const normal = (password: string) => password.normalize("NFKC")

export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string) => Effect.Effect<string>
    /** Takes as long without a hash: the time does not tell whether an account exists. */
    readonly verify: (password: string, hash: string | null) => Effect.Effect<boolean>
  }
>()("quittance/dashboard/Passwords") {
  static readonly layer: Layer.Layer<Passwords> = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const semaphore = yield* Semaphore.make(concurrent)
      const hash = (password: string) =>
        semaphore.withPermits(1)(
          Effect.promise(() => Bun.password.hash(normal(password), { algorithm: "argon2id" }))
        )
      const nobody = yield* Effect.cached(hash("nobody's password"))
      return Passwords.of({
        hash,
        verify: Effect.fnUntraced(function* (password, stored) {
          const against = stored ?? (yield* nobody)
          const same = yield* semaphore.withPermits(1)(
            Effect.promise(() => Bun.password.verify(normal(password), against))
          )
          return same && stored !== null
        })
      })
    })
  )
}
