// Instances of the real faucet on one database and one local chain: each with its own nodes, which a test can silence,
// all on a clock that it moves.

import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { encodeFunctionData } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { ChainAlerts } from "../../src/chain/ChainAlerts.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { FaucetRepo } from "../../src/chain/faucet/Faucet/FaucetRepo.ts"
import { type FaucetTiming, makeFaucet } from "../../src/chain/faucet/Faucet/makeFaucet.ts"
import { Faucet } from "../../src/chain/faucet/Faucet.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import { OutboxRepo } from "../../src/chain/wallets/OutboxRepo.ts"
import type { Address } from "../../src/domain/Chain.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import type { Alert } from "../../src/platform/alerts/Alert.ts"
import { Alerts } from "../../src/platform/alerts/Alerts.ts"
import { address, send, usdc } from "./anvilSuite.ts"
import type { TestDatabase } from "./database.ts"
import { freshAddress } from "./freshAddress.ts"
import { testConfig } from "./memory.ts"
import { rpcProxy } from "./rpcProxy.ts"
import { makeShiftedClock } from "./shiftedClock.ts"

const gasWei = 200_000_000_000_000n

/** One database, and one wallet with a large balance. */
export const faucetWorld = Effect.fnUntraced(function* (database: TestDatabase) {
  const chain = yield* LocalChain
  const clock = makeShiftedClock()
  const key = generatePrivateKey()
  const wallet = address(privateKeyToAddress(key))
  yield* Effect.orDie(chain.setEth(wallet, 10n ** 20n))
  yield* Effect.orDie(chain.mint(wallet, 10n ** 15n))
  const store = yield* Layer.build(
    Layer.merge(KeyAuth.layer, FaucetRepo.layer).pipe(
      Layer.provideMerge(OutboxRepo.layer),
      Layer.provideMerge(database.layer),
      Layer.provideMerge(SecureRandom.layerWebCrypto)
    )
  )
  const stored = Layer.succeedContext(store)

  /**
   * Another instance of the service's faucet. Its workers end with the scope. Calls to its nodes time out after
   * `nodesMillis`.
   */
  const instance = Effect.fnUntraced(function* (
    timing: Partial<FaucetTiming> = {},
    configured = true,
    nodesMillis = 10_000
  ) {
    const node = yield* rpcProxy(chain.rpcUrl)
    const alerts: Array<Alert> = []
    const resolved: Array<string> = []
    const nodeAlerts: Array<string> = []
    const built = yield* Layer.build(
      Layer.fresh(Layer.effect(Faucet, makeFaucet(timing))).pipe(
        Layer.provideMerge(ChainVerifier.layer()),
        Layer.provideMerge(
          Layer.fresh(
            RpcPool.layer({
              urls: { test: [node.url] },
              timeout: nodesMillis,
              deadline: nodesMillis * 1.5,
              retries: 0
            })
          )
        ),
        Layer.provide(
          Layer.succeed(ChainAlerts, ({ kind }) => Effect.sync(() => void nodeAlerts.push(kind)))
        ),
        Layer.provide(
          Layer.succeed(Alerts, {
            raise: (alert) => Effect.sync(() => void alerts.push(alert)),
            resolve: (kind, subject) => Effect.sync(() => void resolved.push(`${kind} ${subject}`))
          })
        ),
        Layer.provide(
          testConfig({
            faucet: {
              privateKey: configured ? Option.some(Redacted.make(key)) : Option.none(),
              usdcAtomic: 10_000_000n,
              gasWei
            }
          })
        ),
        Layer.provide(stored)
      )
    ).pipe(clock.run)
    const faucet = yield* Effect.provideContext(Faucet, built)
    const clocked: Faucet["Service"] = {
      ...faucet,
      checkLimits: (request) => clock.run(faucet.checkLimits(request)),
      grant: (request) => clock.run(faucet.grant(request))
    }
    return {
      faucet: clocked,
      node,
      alerts,
      resolved,
      nodeAlerts,
      verifier: yield* Effect.provideContext(ChainVerifier, built)
    }
  })

  const within = <A, E>(effect: Effect.Effect<A, E, LocalChain>) =>
    Effect.orDie(Effect.provideService(effect, LocalChain, chain))
  const balance = (of: Address) =>
    Effect.promise(async () => ({
      usdcAtomic: await chain.publicClient.readContract({
        address: usdc,
        abi: usdcAbi,
        functionName: "balanceOf",
        args: [of]
      }),
      gasWei: await chain.publicClient.getBalance({ address: of })
    }))
  return {
    chain,
    clock,
    wallet,
    instance,
    balance,
    repo: yield* Effect.provideContext(OutboxRepo, store),
    merchant: Effect.gen(function* () {
      const keys = yield* KeyAuth
      const receiver = freshAddress()
      const { merchant } = yield* Effect.orDie(
        keys.createMerchant({ name: "Shop", receivers: { test: receiver, live: receiver } })
      )
      return merchant.id
    }).pipe(Effect.provideContext(store)),
    /** Reduces the wallet to this much USDC. */
    leave: Effect.fnUntraced(function* (usdcAtomic: bigint) {
      const { usdcAtomic: now } = yield* balance(wallet)
      if (usdcAtomic > now) yield* within(chain.mint(wallet, usdcAtomic - now))
      if (usdcAtomic >= now) return
      const away = encodeFunctionData({
        abi: usdcAbi,
        functionName: "transfer",
        args: [address(`0x${"dd".repeat(20)}`), now - usdcAtomic]
      })
      yield* within(send(wallet, usdc, away))
    }),
    /** Nonces of the wallet's transactions in the chain's blocks. */
    minedNonce: Effect.promise(() => chain.publicClient.getTransactionCount({ address: wallet }))
  }
})
