// Checks whether posts to a URL would arrive: name, addresses, connection and certificate. It sends nothing.
import { Context, Effect, Layer, Result } from "effect"
import { makeDialler } from "./Dialler.ts"
import { EgressPolicy } from "./EgressPolicy.ts"
import { checkEgressUrl } from "./EgressUrl.ts"
import type { PostFailure } from "./PostFailure.ts"
import { Resolver } from "./Resolver.ts"

export class Reach extends Context.Service<
  Reach,
  { readonly reach: (url: string) => Effect.Effect<void, PostFailure> }
>()("quittance/platform/Reach") {
  static readonly layer: Layer.Layer<Reach, never, Resolver | EgressPolicy> = Layer.effect(
    Reach,
    Effect.gen(function* () {
      const policy = yield* EgressPolicy
      const { dialFirst, locate } = makeDialler(policy, yield* Resolver)
      return {
        reach: Effect.fn("Reach.reach")(function* (text) {
          const checked = checkEgressUrl(text, policy)
          if (Result.isFailure(checked)) return yield* Effect.fail("blocked" as const)
          const { allowed, url } = checked.success
          let abandon = (): void => {}
          const dialled = Effect.flatMap(locate(url, allowed), (addresses) =>
            dialFirst(url, addresses, (socket) => {
              abandon = () => socket.destroy()
            })
          )
          yield* Effect.ensuring(
            dialled,
            Effect.sync(() => abandon())
          )
        })
      }
    })
  )
}
