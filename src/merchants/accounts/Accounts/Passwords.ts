// Password hashing (argon2id), with bounded concurrency: a burst of sign-ins cannot exhaust memory or CPU.
import { Context, Effect, Layer, Semaphore } from "effect"
import { RateLimited } from "../../../domain/Errors.ts"

/** 64 MiB and two passes: more than the minimum in OWASP's cheat sheet on password storage. */
const cost = { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 } as const
/** Hashes computed at the same time. */
const maxConcurrent = 2
/** Queue limit: a request behind this many would wait too long, so it is rejected with 429. */
const maxQueued = 20
const againSeconds = 3

/** The same characters, however the keyboard composed them. */
const normal = (password: string) => password.normalize("NFKC")

/** The hash of a random password, so that refusing an unknown account takes as long as refusing a known one. */
const unknownAccount =
  "$argon2id$v=19$m=65536,t=2,p=1$38SRIch8ycX/AzcU+mQT+suxm77FZnuDmooxQjbGBo8$KirtoPdpkx7l8/bMndJXK5xX9bSKPV0QZUAtRfnA7FE"

export class Passwords extends Context.Service<
  Passwords,
  {
    readonly hash: (password: string) => Effect.Effect<string, RateLimited>
    /** Takes the same time without a hash, so that it does not reveal whether an account exists. */
    readonly verify: (password: string, hash: string | null) => Effect.Effect<boolean, RateLimited>
  }
>()("quittance/merchants/Passwords") {
  static readonly layer: Layer.Layer<Passwords> = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const semaphore = yield* Semaphore.make(maxConcurrent)
      let waiting = 0
      const inTurn = <A>(work: () => Promise<A>) =>
        Effect.suspend(() => {
          if (waiting >= maxConcurrent + maxQueued)
            return Effect.fail(new RateLimited({ retryAfter: againSeconds }))
          waiting++
          return semaphore
            .withPermits(1)(Effect.promise(work))
            .pipe(
              Effect.ensuring(
                Effect.sync(() => {
                  waiting--
                })
              )
            )
        })
      const hash = (password: string) => inTurn(() => Bun.password.hash(normal(password), cost))
      return Passwords.of({
        hash,
        verify: Effect.fnUntraced(function* (password, stored) {
          const against = stored ?? unknownAccount
          const same = yield* inTurn(() => Bun.password.verify(normal(password), against))
          return same && stored !== null
        })
      })
    })
  )
}
