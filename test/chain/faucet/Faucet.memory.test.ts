// The faucet in memory passes the contract, moving money on the in-memory chain.
import { describe } from "bun:test"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { creditFrom } from "../../../src/chain/faucet/Faucet/FaucetMemory.ts"
import { Faucet } from "../../../src/chain/faucet/Faucet.ts"
import { MemoryChain } from "../../../src/chain/MemoryChain.ts"
import { ChainUnavailable } from "../../../src/domain/Errors.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { makeShiftedClock } from "../../support/shiftedClock.ts"
import { type FaucetBench, faucetContract, someone } from "./Faucet.contract.ts"

const wallet = someone()

describe("Faucet in memory", () => {
  faucetContract(
    Effect.gen(function* () {
      const clock = makeShiftedClock()
      const chain = yield* MemoryChain
      const random = yield* SecureRandom.SecureRandom
      let up = true
      const leave = (usdcAtomic: bigint) =>
        Effect.flatMap(chain.balance(wallet), (now) =>
          chain.fund(wallet, { usdcAtomic: usdcAtomic - now.usdcAtomic })
        )
      yield* leave(1_000_000_000_000n)
      const credit = creditFrom(chain, wallet)
      const built = yield* Layer.build(
        Faucet.layerMemory((grant) =>
          Effect.suspend(() => (up ? credit(grant) : Effect.fail(new ChainUnavailable({ retryAfter: 5 }))))
        )
      )
      const faucet = yield* Effect.provideContext(Faucet, built)
      const moved: Faucet["Service"] = {
        ...faucet,
        checkLimits: (request) => clock.run(faucet.checkLimits(request)),
        grant: (request) => clock.run(faucet.grant(request))
      }
      const bench: FaucetBench = {
        faucet: moved,
        second: moved,
        merchant: Effect.map(random.uuidV7(), (id) => MerchantId.make(id)),
        balance: (address) => chain.balance(address),
        pass: clock.pass,
        leave,
        nodes: (answer) =>
          Effect.sync(() => {
            up = answer
          })
      }
      return bench
    }).pipe(Effect.provide(Layer.merge(Layer.fresh(MemoryChain.layer), SecureRandom.layerWebCrypto)))
  )
})
