// A process that runs a local chain until it is killed: shows that nothing is orphaned.
import { Effect } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"

await Effect.runPromise(
  Effect.gen(function* () {
    const chain = yield* LocalChain
    console.log(chain.rpcUrl)
    yield* Effect.never
  }).pipe(Effect.provide(LocalChain.layer()))
)
