// A wallet that something else uses too, a node that lags or lies, a block that does not come: no answer of the faucet
// and no status claims a transfer that did not happen.
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Fiber, Layer, ManagedRuntime, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, keccak256 } from "viem"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import type { Address } from "../../../src/domain/Chain.ts"
import { localChain, send } from "../../support/anvilSuite.ts"
import { testDatabase } from "../../support/database.ts"
import { faucetWorld } from "../../support/faucetStack.ts"
import type { Behaviour } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"
import { someone, tell } from "./Faucet.contract.ts"

setDefaultTimeout(180_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

const one = 10_000_000n
const gas = 200_000_000_000_000n
const quick = { checkEvery: "50 millis", sendAgainAfter: "200 millis", lostAfter: "200 millis" } as const
const nothing = { usdcAtomic: 0n, gasWei: 0n }
const pass = () => undefined

const isRaw = (value: unknown): value is Hex => typeof value === "string" && value.startsWith("0x")

/** Acknowledges a broadcast, and drops it. */
const swallows: Behaviour = (method, [raw]) =>
  method === "eth_sendRawTransaction" && isRaw(raw) ? { result: keccak256(raw) } : undefined

/** Returns the wallet's nonce as it was before anything was sent. */
const lags =
  (...tags: ReadonlyArray<string>): Behaviour =>
  (method, [, tag]) =>
    method === "eth_getTransactionCount" && tags.includes(String(tag)) ? { result: "0x0" } : undefined

const sharedWorld = Effect.fnUntraced(function* (
  database: Parameters<typeof faucetWorld>[0],
  chain: Effect.Success<typeof runtime.contextEffect>
) {
  const store = yield* Layer.build(database.layer)
  const world = yield* Effect.provideContext(
    faucetWorld({ ...database, layer: Layer.succeedContext(store) }),
    chain
  )
  const sql = yield* Effect.provideContext(SqlClient.SqlClient, store)
  return {
    ...world,
    /** Sends from the faucet's wallet, outside the service. */
    foreign: (transactions: number) =>
      send(world.wallet, someone(), "0x").pipe(
        Effect.repeat({ times: transactions - 1 }),
        Effect.provideService(LocalChain, world.chain),
        Effect.orDie
      ),
    statuses: sql<{ readonly status: string }>`SELECT status FROM faucet_grants ORDER BY created_at, id`.pipe(
      Effect.map((rows) => rows.map(({ status }) => status)),
      Effect.orDie
    )
  }
})
type World = Effect.Success<ReturnType<typeof sharedWorld>>

/** Repeats until the condition holds, for a while. */
const eventually = <A, E>(effect: Effect.Effect<A, E>, holds: (value: A) => boolean) =>
  effect.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: holds, times: 1500 }),
    Effect.tap((value) => Effect.sync(() => expect(holds(value)).toBe(true)))
  )
/** The alert follows the record of what happened. */
const alertsShared = (alerts: ReadonlyArray<{ readonly kind: string }>) =>
  eventually(
    Effect.sync(() => alerts.map(({ kind }) => kind)),
    (kinds) => kinds.includes("faucet_wallet_shared")
  )
const settled = (world: World) => eventually(world.repo.open(world.wallet), (open) => open.length === 0)

describe("the faucet on a shared wallet on Postgres", () => {
  const database = testDatabase
  const it = (name: string, test: (world: World) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    liveEffect(name, () =>
      Effect.gen(function* () {
        yield* test(yield* sharedWorld(database, yield* Effect.promise(() => runtime.context())))
      })
    )
  /** As `it`, on a chain of its own that seals blocks only on request. */
  const itSealed = (name: string, test: (world: World) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    liveEffect(name, () =>
      Effect.gen(function* () {
        const world = yield* sharedWorld(database, yield* Layer.build(Layer.fresh(localChain)))
        yield* world.chain.rpc("evm_setAutomine", [false])
        yield* test(world)
      })
    )
  const request = Effect.fnUntraced(function* (world: World, recipient: Address) {
    return { merchantId: yield* world.merchant, recipient, clientAddress: "198.51.100.1" }
  })

  it("a node that lags behind two foreign transactions: the faucet signs a new nonce, and pays once", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { alerts, faucet, node } = yield* world.instance(quick)
      yield* world.foreign(2)
      node.behave(lags("pending"))
      const asked = yield* request(world, recipient)
      const grant = yield* faucet.grant(asked)
      expect(yield* world.balance(recipient)).toEqual({ usdcAtomic: one, gasWei: gas })
      for (const hash of grant.transactionIds) {
        const receipt = yield* Effect.promise(() => world.chain.publicClient.getTransactionReceipt({ hash }))
        expect(receipt.status).toBe("success")
      }
      expect(grant.transactionIds).toHaveLength(2)
      expect(yield* world.minedNonce).toBe(4)
      expect(yield* world.statuses).toEqual(["returned", "sent"])
      // The worker may notice it at the same time; one alert for each kind and subject is stored.
      expect(new Set(alerts.map(({ kind, subject }) => `${kind} ${subject}`))).toEqual(
        new Set([`faucet_wallet_shared ${world.wallet}`])
      )
    }))

  it("a node that knows no newer nonce: refused with a clear message, and no limit is used up", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { faucet, node } = yield* world.instance(quick)
      // More nonces than the four attempts below sign: a nonce that was once signed is never signed again.
      yield* world.foreign(8)
      node.behave(lags("pending", "latest"))
      const asked = yield* request(world, recipient)
      for (let attempt = 0; attempt < 2; attempt++) {
        const refused = yield* Effect.flip(faucet.grant(asked))
        expect(refused).toMatchObject({ code: "FAUCET_UNAVAILABLE", reason: "wallet_shared" })
        expect(refused.message).toContain("something else uses the faucet's wallet")
      }
      expect(yield* world.balance(recipient)).toEqual(nothing)
      expect(new Set(yield* world.statuses)).toEqual(new Set(["returned"]))
      node.behave(pass)
      yield* settled(world)
      const answers = yield* Effect.forEach([1, 2, 3], () => Effect.result(faucet.grant(asked)))
      expect(answers.map(tell)).toEqual(["granted", "granted", "granted"])
    }))

  it("accepted, then overtaken: the waiting grant is sent once more, and paid once", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { alerts, faucet, node } = yield* world.instance({ ...quick, checkEvery: "1 hour" })
      node.behave(swallows)
      const grant = yield* Effect.forkScoped(faucet.grant(yield* request(world, recipient)))
      yield* eventually(
        Effect.sync(() => node.calls.filter((method) => method === "eth_sendRawTransaction").length),
        (sent) => sent >= 2
      )
      node.behave(pass)
      yield* world.foreign(2)
      yield* Fiber.join(grant)
      expect(yield* world.balance(recipient)).toEqual({ usdcAtomic: one, gasWei: gas })
      expect(yield* world.statuses).toEqual(["returned", "sent"])
      yield* alertsShared(alerts)
    }))

  it("accepted, past its deadline, then overtaken: 503, later given back with an alert, not sent", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { alerts, faucet, node } = yield* world.instance({ ...quick, minedTimeout: "100 millis" })
      node.behave(swallows)
      const asked = yield* request(world, recipient)
      const waiting = yield* Effect.flip(faucet.grant(asked))
      expect(waiting).toMatchObject({ code: "CHAIN_UNAVAILABLE", retryAfter: 5 })
      expect(waiting.message).toContain("not in a block yet")
      expect(yield* world.statuses).toEqual(["reserved"])
      yield* world.foreign(2)
      yield* settled(world)
      expect(yield* world.statuses).toEqual(["returned"])
      yield* alertsShared(alerts)
      expect(yield* world.balance(recipient)).toEqual(nothing)
    }))

  it("the gas is sent and only the USDC overtaken: gas_only, and still counted", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      let sent = 0
      const { faucet, node } = yield* world.instance({ ...quick, checkEvery: "1 hour" })
      node.behave((method, params) => {
        if (method !== "eth_sendRawTransaction") return undefined
        sent += 1
        return sent === 2 ? swallows(method, params) : undefined
      })
      const grant = yield* Effect.forkScoped(Effect.flip(faucet.grant(yield* request(world, recipient))))
      yield* eventually(
        Effect.sync(() => sent),
        (count) => count >= 2
      )
      yield* world.foreign(1)
      expect(yield* Fiber.join(grant)).toMatchObject({ reason: "wallet_shared" })
      expect(yield* world.balance(recipient)).toEqual({ usdcAtomic: 0n, gasWei: gas })
      expect(yield* world.statuses).toEqual(["gas_only"])
    }))

  it("the gas is sent and the USDC refused: its filler does not make the grant sent", (world) =>
    Effect.gen(function* () {
      const [refused, paid] = [someone(), someone()]
      const first = yield* world.instance({ ...quick, checkEvery: "1 hour" })
      const second = yield* world.instance(quick)
      const gate = Promise.withResolvers<void>()
      let sent = 0
      first.node.behave(async (method) => {
        if (method !== "eth_sendRawTransaction") return undefined
        sent += 1
        if (sent === 1) return undefined
        await gate.promise
        return { error: { code: -32000, message: "insufficient funds" } }
      })
      second.node.behave((method) =>
        method === "eth_sendRawTransaction" ? { raw: new Response("", { status: 502 }) } : undefined
      )
      const asked = yield* request(world, refused)
      const early = yield* Effect.forkScoped(Effect.result(first.faucet.grant(asked)))
      yield* eventually(
        Effect.sync(() => sent),
        (count) => count >= 2
      )
      const late = yield* Effect.result(second.faucet.grant({ ...asked, recipient: paid }))
      expect(tell(late)).toBe("CHAIN_UNAVAILABLE")
      gate.resolve()
      expect(tell(yield* Fiber.join(early))).toBe("FAUCET_UNAVAILABLE empty")
      // By now the second instance has tried what it read before the refusal, and has failed.
      yield* Effect.sleep("1 second")
      second.node.behave(pass)
      yield* settled(world)
      expect(yield* world.balance(refused)).toEqual({ usdcAtomic: 0n, gasWei: gas })
      expect(yield* world.balance(paid)).toEqual({ usdcAtomic: one, gasWei: gas })
      expect(yield* world.statuses).toEqual(["gas_only", "sent"])
    }))

  itSealed("no block in time: 503 and not 201; once a block comes, the grant is sent", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { alerts, faucet } = yield* world.instance({ ...quick, minedTimeout: "300 millis" })
      const waiting = yield* Effect.flip(faucet.grant(yield* request(world, recipient)))
      expect(waiting).toMatchObject({ code: "CHAIN_UNAVAILABLE", retryAfter: 5 })
      expect(yield* world.balance(recipient)).toEqual(nothing)
      yield* world.chain.mine(1)
      yield* settled(world)
      expect(yield* world.balance(recipient)).toEqual({ usdcAtomic: one, gasWei: gas })
      expect(yield* world.statuses).toEqual(["sent"])
      expect(alerts).toEqual([])
    })
  )

  itSealed(
    "if an earlier version of the transaction is mined, the grant is sent, and no alert is raised",
    (world) =>
      Effect.gen(function* () {
        const recipient = someone()
        const timing = { ...quick, stuckAfter: "400 millis", minedTimeout: "100 millis" } as const
        const { alerts, faucet, node } = yield* world.instance(timing)
        expect(tell(yield* Effect.result(faucet.grant(yield* request(world, recipient))))).toBe(
          "CHAIN_UNAVAILABLE"
        )
        // From here on the chain sees no other version.
        node.behave(swallows)
        const openAfterBlock = Effect.gen(function* () {
          yield* world.chain.rpc("anvil_setNextBlockBaseFeePerGas", ["0x174876e800"])
          yield* world.chain.mine(1)
          yield* Effect.sleep("200 millis")
          return yield* world.repo.open(world.wallet)
        })
        yield* eventually(openAfterBlock, (open) => open[0]?.versions.length === 2)
        const [gasTransaction, usdcTransaction] = yield* world.repo.open(world.wallet)
        yield* world.chain.rpc("anvil_setNextBlockBaseFeePerGas", ["0x1"])
        yield* world.chain.mine(1)
        for (const raw of [gasTransaction?.versions[1], usdcTransaction?.versions[0]])
          yield* world.chain.rpc("eth_sendRawTransaction", [raw])
        yield* world.chain.mine(1)
        yield* settled(world)
        expect(yield* world.balance(recipient)).toEqual({ usdcAtomic: one, gasWei: gas })
        expect(yield* world.statuses).toEqual(["sent"])
        expect(alerts).toEqual([])
      })
  )
})
