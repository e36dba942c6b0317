// The faucet between two lines: killed before and after a broadcast, refused, stuck at a low fee, out of money, without
// nodes. Nobody is paid twice or forgotten.
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Fiber, Layer, ManagedRuntime, Option, Result, type Scope } from "effect"
import { type Hex, parseTransaction } from "viem"
import type { Address } from "../../../src/domain/Chain.ts"
import { localChain } from "../../support/anvilSuite.ts"
import { testDatabase } from "../../support/database.ts"
import { faucetWorld } from "../../support/faucetStack.ts"
import type { Behaviour } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"
import { someone, tell } from "./Faucet.contract.ts"

setDefaultTimeout(180_000)

const runtime = ManagedRuntime.make(localChain)
afterAll(() => runtime.dispose())

type World = Effect.Success<ReturnType<typeof faucetWorld>>

const one = 10_000_000n
const gas = 200_000_000_000_000n
const quick = { checkEvery: "50 millis", sendAgainAfter: "200 millis" } as const
const never = new Promise<undefined>(() => undefined)

/** Repeats until the condition holds, for a while. */
const eventually = <A, E>(effect: Effect.Effect<A, E>, holds: (value: A) => boolean) =>
  effect.pipe(
    Effect.delay("10 millis"),
    Effect.repeat({ until: holds, times: 3000 }),
    Effect.tap((value) => Effect.sync(() => expect(holds(value)).toBe(true)))
  )

/** Drops, swallows or passes the nth broadcast and all later ones; reads pass. */
const broadcasts = (from: number, reply: Behaviour): Behaviour => {
  let count = 0
  return (method, params) => {
    if (method !== "eth_sendRawTransaction") return undefined
    count += 1
    return count > from ? reply(method, params) : undefined
  }
}

describe("the faucet between two lines on Postgres", () => {
  const database = testDatabase
  const it = (name: string, test: (world: World) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    liveEffect(name, () =>
      Effect.gen(function* () {
        const chain = yield* Effect.promise(() => runtime.context())
        yield* test(yield* Effect.provideContext(faucetWorld(database), chain))
      })
    )
  const request = Effect.fnUntraced(function* (world: World, recipient: Address) {
    return { merchantId: yield* world.merchant, recipient, clientAddress: "198.51.100.1" }
  })
  /** Waits until the recipient has exactly this balance, and checks that it stays. */
  const holds = Effect.fnUntraced(function* (
    world: World,
    recipient: Address,
    usdcAtomic: bigint,
    gasWei: bigint
  ) {
    yield* world
      .balance(recipient)
      .pipe(
        Effect.delay("50 millis"),
        Effect.repeat({ until: (now) => now.usdcAtomic >= usdcAtomic && now.gasWei >= gasWei, times: 600 })
      )
    yield* Effect.sleep("500 millis")
    expect(yield* world.balance(recipient)).toEqual({ usdcAtomic, gasWei })
    const open = yield* world.repo
      .open(world.wallet)
      .pipe(Effect.delay("50 millis"), Effect.repeat({ until: (found) => found.length === 0, times: 200 }))
    expect(open).toHaveLength(0)
  })

  describe("a crash", () => {
    for (const [when, behaviour] of [
      ["after the reservation, before any broadcast", broadcasts(0, () => never)],
      ["after the first broadcast, before the second", broadcasts(1, () => never)]
    ] as const) {
      it(`${when}: another instance pays the reservation, once`, (world) =>
        Effect.gen(function* () {
          const recipient = someone()
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { faucet, node } = yield* world.instance({ checkEvery: "1 hour" })
              node.behave(behaviour)
              const grant = yield* Effect.forkScoped(faucet.grant(yield* request(world, recipient)))
              const count = Effect.sync(
                () => node.calls.filter((one) => one === "eth_sendRawTransaction").length
              )
              yield* eventually(count, (sent) => sent >= (when.includes("first") ? 2 : 1))
              yield* Fiber.interrupt(grant)
            })
          )
          expect(yield* world.repo.open(world.wallet)).not.toHaveLength(0)
          yield* world.instance(quick)
          yield* holds(world, recipient, one, gas)
          // The reservation counts as one grant.
          const { faucet } = yield* world.instance(quick)
          const again = yield* request(world, recipient).pipe(
            Effect.flatMap((asked) => Effect.forEach([1, 2, 3], () => Effect.result(faucet.grant(asked))))
          )
          expect(again.map(tell)).toEqual(["granted", "granted", "FAUCET_LIMIT_REACHED recipient"])
        }))
    }

    for (const sent of [1, 2]) {
      it(`killed after broadcast ${sent} reached the chain: paid once, recorded by another instance`, (world) =>
        Effect.gen(function* () {
          const recipient = someone()
          let swallowed = false
          yield* Effect.scoped(
            Effect.gen(function* () {
              const { faucet, node } = yield* world.instance({ checkEvery: "1 hour" })
              node.behave(
                broadcasts(sent - 1, async (_method, params) => {
                  await fetch(world.chain.rpcUrl, {
                    method: "POST",
                    headers: { "content-type": "application/json" },
                    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction", params })
                  })
                  swallowed = true
                  return never
                })
              )
              const grant = yield* Effect.forkScoped(faucet.grant(yield* request(world, recipient)))
              yield* eventually(
                Effect.sync(() => swallowed),
                Boolean
              )
              yield* Fiber.interrupt(grant)
            })
          )
          yield* world.instance(quick)
          yield* holds(world, recipient, one, gas)
          expect(yield* world.minedNonce).toBe(2)
        }))
    }
  })

  it("a lost answer to a broadcast is no refusal: 503, and the reservation is paid once", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { faucet, node } = yield* world.instance(quick)
      node.behave(broadcasts(0, () => ({ raw: new Response("", { status: 502 }) })))
      const answer = yield* Effect.result(faucet.grant(yield* request(world, recipient)))
      expect(tell(answer)).toBe("CHAIN_UNAVAILABLE")
      node.behave(() => undefined)
      yield* holds(world, recipient, one, gas)
      expect(yield* world.minedNonce).toBe(2)
    }))

  it("a refused broadcast gives the grant back, stores the signed bytes, and fills its nonces", (world) =>
    Effect.gen(function* () {
      const recipient = someone()
      const { alerts, faucet, node } = yield* world.instance(quick)
      const refuses: Behaviour = (method) =>
        method === "eth_sendRawTransaction"
          ? { error: { code: -32000, message: "insufficient funds for gas * price + value" } }
          : undefined
      node.behave(refuses)
      const asked = yield* request(world, recipient)
      for (let attempt = 0; attempt < 5; attempt++) {
        expect(tell(yield* Effect.result(faucet.grant(asked)))).toBe("FAUCET_UNAVAILABLE empty")
      }
      expect(alerts.map(({ kind, subject }) => [kind, subject])).toContainEqual([
        "faucet_empty",
        world.wallet
      ])
      // The first attempt's bytes, and a filler for each; the other attempts signed nothing behind them.
      const open = yield* world.repo.open(world.wallet)
      expect(open.map(({ purpose, versions }) => [purpose, versions.length])).toEqual([
        ["gas", 2],
        ["usdc", 2]
      ])
      node.behave(() => undefined)
      const answers = yield* Effect.forEach([1, 2, 3], () => Effect.result(faucet.grant(asked)))
      expect(answers.map(tell)).toEqual(["granted", "granted", "granted"])
      expect(yield* world.minedNonce).toBe(8)
      yield* holds(world, asked.recipient, 3n * one, 3n * gas)
    }))

  it("a refusal below later reservations fills its nonces, so that those reservations are paid", (world) =>
    Effect.gen(function* () {
      const first = yield* world.instance({ ...quick, checkEvery: "1 hour" })
      // This instance is slow to rebroadcast what another has signed, so that the refusal comes first.
      const second = yield* world.instance({ ...quick, sendAgainAfter: "10 seconds" })
      const [refused, paid] = [someone(), someone()]
      let release: () => void = () => undefined
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      first.node.behave(
        broadcasts(0, async () => {
          await gate
          return { error: { code: -32000, message: "insufficient funds" } }
        })
      )
      const asked = yield* request(world, refused)
      const early = yield* Effect.forkScoped(Effect.result(first.faucet.grant(asked)))
      yield* eventually(world.repo.open(world.wallet), (open) => open.length === 2)
      const late = yield* Effect.forkScoped(second.faucet.grant({ ...asked, recipient: paid }))
      yield* eventually(world.repo.open(world.wallet), (open) => open.length === 4)
      release()
      expect(tell(yield* Fiber.join(early))).toBe("FAUCET_UNAVAILABLE empty")
      yield* Fiber.join(late)
      yield* holds(world, paid, one, gas)
      expect(yield* world.balance(refused)).toEqual({ usdcAtomic: 0n, gasWei: 0n })
      expect(yield* world.minedNonce).toBe(4)
    }))

  it("forty grants at once on two instances: nonces 0 to 79, no gap and no duplicate", (world) =>
    Effect.gen(function* () {
      const instances = [yield* world.instance(quick), yield* world.instance(quick)] as const
      const recipients = Array.from({ length: 40 }, someone)
      const merchants = [yield* world.merchant, yield* world.merchant] as const
      const answers = yield* Effect.forEach(
        recipients,
        (recipient, index) =>
          Effect.result(
            instances[index % 2 === 0 ? 0 : 1].faucet.grant({
              merchantId: merchants[index % 2 === 0 ? 0 : 1],
              recipient,
              clientAddress: `198.51.100.${index}`
            })
          ),
        { concurrency: "unbounded" }
      )
      expect(new Set(answers.map(tell))).toEqual(new Set(["granted"]))
      expect(yield* world.minedNonce).toBe(80)
      for (const recipient of recipients) {
        expect(yield* world.balance(recipient)).toEqual({ usdcAtomic: one, gasWei: gas })
      }
      const ids = answers.flatMap((answer) =>
        Result.isSuccess(answer) ? [...answer.success.transactionIds] : []
      )
      const nonces = yield* Effect.forEach(ids, (hash) =>
        Effect.promise(async () => (await world.chain.publicClient.getTransaction({ hash })).nonce)
      )
      expect(nonces.sort((left, right) => left - right)).toEqual(
        Array.from({ length: 80 }, (_, nonce) => nonce)
      )
    }))

  liveEffect(
    "a transaction whose fee is too low is replaced with a higher one, and the recipient is paid once",
    () =>
      Effect.gen(function* () {
        // A chain of its own, which seals blocks only on request.
        const world = yield* Effect.provideContext(
          faucetWorld(database),
          yield* Layer.build(Layer.fresh(localChain))
        )
        const recipient = someone()
        yield* world.chain.rpc("evm_setAutomine", [false])
        const sent: Array<Hex> = []
        const { faucet, node } = yield* world.instance({
          ...quick,
          stuckAfter: "400 millis",
          minedTimeout: "100 millis"
        })
        node.behave((method, [raw]) => {
          if (method === "eth_sendRawTransaction" && typeof raw === "string") sent.push(`0x${raw.slice(2)}`)
          return undefined
        })
        const grant = yield* Effect.forkScoped(Effect.result(faucet.grant(yield* request(world, recipient))))
        const tried = Effect.sync(() => feesOfFirst(sent))
        yield* eventually(tried, (fees) => fees.length >= 1)
        // Time without blocks raises no fee.
        yield* Effect.sleep("1500 millis")
        expect(yield* tried).toHaveLength(1)
        const triedAfterBlock = Effect.gen(function* () {
          yield* world.chain.rpc("anvil_setNextBlockBaseFeePerGas", ["0x174876e800"])
          yield* world.chain.mine(1)
          yield* Effect.sleep("200 millis")
          return yield* tried
        })
        const [low = 0n, high = 0n] = yield* eventually(triedAfterBlock, (fees) => fees.length >= 2)
        expect(high * 1000n).toBeGreaterThanOrEqual(low * 1125n)
        yield* world.chain.mine(1)
        yield* world.chain.rpc("anvil_setNextBlockBaseFeePerGas", ["0x1"])
        // The second transaction may be replaced too, and then needs another block.
        const paidAfterBlock = Effect.gen(function* () {
          yield* world.chain.mine(1)
          yield* Effect.sleep("200 millis")
          return yield* world.balance(recipient)
        })
        yield* eventually(paidAfterBlock, ({ gasWei, usdcAtomic }) => usdcAtomic >= one && gasWei >= gas)
        yield* holds(world, recipient, one, gas)
        expect(yield* world.minedNonce).toBe(2)
        expect(tell(yield* Fiber.join(grant))).toBe("CHAIN_UNAVAILABLE")
      })
  )

  it("the wallet's alert is resolved once the wallet pays again", (world) =>
    Effect.gen(function* () {
      const { alerts, faucet, resolved } = yield* world.instance({ checkEvery: "1 hour" })
      const grant = Effect.flatMap(request(world, someone()), (asked) => Effect.result(faucet.grant(asked)))
      yield* world.leave(0n)
      expect(tell(yield* grant)).toBe("FAUCET_UNAVAILABLE empty")
      expect(alerts.map(({ kind }) => kind)).toEqual(["faucet_empty"])
      yield* world.leave(4n * one)
      expect(tell(yield* grant)).toBe("granted")
      expect(resolved).toEqual(["faucet_not_configured faucet"])
      yield* world.clock.pass(61)
      expect(tell(yield* grant)).toBe("granted")
      expect(tell(yield* grant)).toBe("granted")
      expect(resolved.slice(1)).toEqual([`faucet_empty ${world.wallet}`])
    }))

  it("an empty wallet, silent nodes and an unconfigured faucet: an error and an alert for each", (world) =>
    Effect.gen(function* () {
      const asked = yield* request(world, someone())
      const { alerts, faucet, node, nodeAlerts } = yield* world.instance({ checkEvery: "1 hour" })
      yield* world.leave(0n)
      expect(tell(yield* Effect.result(faucet.grant(asked)))).toBe("FAUCET_UNAVAILABLE empty")
      expect(alerts.at(-1)).toMatchObject({ kind: "faucet_empty", tenant: Option.none() })
      expect(alerts.at(-1)?.message).toContain("out of USDC")
      yield* world.leave(one)
      yield* Effect.orDie(world.chain.setEth(world.wallet, 1000n))
      expect(tell(yield* Effect.result(faucet.grant(asked)))).toBe("FAUCET_UNAVAILABLE empty")
      expect(alerts.at(-1)?.message).toContain("out of gas")
      node.behave(() => ({ raw: new Response("", { status: 503 }) }))
      expect(tell(yield* Effect.result(faucet.grant(asked)))).toBe("CHAIN_UNAVAILABLE")
      expect(nodeAlerts).toContain("unreachable")
      const off = yield* world.instance({}, false)
      expect(off.faucet.offer.enabled).toBe(false)
      expect(tell(yield* Effect.result(off.faucet.grant(asked)))).toBe("FAUCET_UNAVAILABLE not_configured")
      expect(off.alerts.map(({ kind }) => kind)).toEqual(["faucet_not_configured"])
    }))
})

/** The fees tried for the first nonce, in order. */
const feesOfFirst = (sent: ReadonlyArray<Hex>): ReadonlyArray<bigint> => [
  ...new Set(
    sent
      .map((raw) => parseTransaction(raw))
      .flatMap(({ maxFeePerGas, nonce = 0 }) =>
        nonce === 0 && maxFeePerGas !== undefined ? [maxFeePerGas] : []
      )
  )
]
