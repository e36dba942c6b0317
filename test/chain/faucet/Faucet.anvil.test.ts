// The real faucet passes the contract on anvil with the real USDC on Postgres, in two instances.
import { afterAll, describe, setDefaultTimeout } from "bun:test"
import { Effect, ManagedRuntime } from "effect"
import { localChain } from "../../support/anvilSuite.ts"
import { testDatabase } from "../../support/database.ts"
import { faucetWorld } from "../../support/faucetStack.ts"
import { type FaucetBench, faucetContract } from "./Faucet.contract.ts"

setDefaultTimeout(60_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

describe("Faucet on anvil on Postgres", () => {
  const database = testDatabase
  faucetContract(
    Effect.gen(function* () {
      const chain = yield* Effect.promise(() => runtime.context())
      const world = yield* Effect.provideContext(faucetWorld(database), chain)
      // Two hundred calls at once are more than one node on a busy machine answers in two seconds.
      const instance = world.instance({ checkEvery: "500 millis" }, true, 20_000)
      const [one, two] = [yield* instance, yield* instance]
      const bench: FaucetBench = {
        faucet: one.faucet,
        second: two.faucet,
        merchant: world.merchant,
        balance: world.balance,
        pass: world.clock.pass,
        leave: world.leave,
        nodes: (up) =>
          Effect.sync(() => {
            for (const { node } of [one, two]) {
              node.behave(() => (up ? undefined : { raw: new Response("", { status: 503 }) }))
            }
          })
      }
      return bench
    })
  )
})
