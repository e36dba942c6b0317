// The contract of every faucet: its limits, its payments, and the grants that it gives back.
import { expect } from "bun:test"
import { Effect, Result, type Scope } from "effect"
import type { Faucet } from "../../../src/chain/faucet/Faucet.ts"
import type { Balance } from "../../../src/chain/Verification.ts"
import type { Address } from "../../../src/domain/Chain.ts"
import type { MerchantId } from "../../../src/domain/Merchant.ts"
import { address } from "../../support/anvilSuite.ts"
import { liveEffect } from "../../support/run.ts"

/** A faucet with money, on a clock that the test moves. */
export interface FaucetBench {
  readonly faucet: Faucet["Service"]
  /** The same faucet in another instance: another stack on the same database and wallet. */
  readonly second: Faucet["Service"]
  readonly merchant: Effect.Effect<MerchantId>
  readonly balance: (address: Address) => Effect.Effect<Balance>
  readonly pass: (seconds: number) => Effect.Effect<void>
  /** Reduces the wallet to this much USDC. */
  readonly leave: (usdcAtomic: bigint) => Effect.Effect<void>
  /** Turns the chain's nodes off and on. */
  readonly nodes: (up: boolean) => Effect.Effect<void>
}

let people = 0
/** A new recipient. */
export const someone = (): Address =>
  address(`0x${(0xfa0ce7_0000 + people++).toString(16).padStart(40, "0")}`)
const client = () => `198.51.100.${people++}`
const day = 24 * 3600

type Answer = Result.Result<
  unknown,
  { readonly code: string; readonly reason?: string; readonly retryAfter?: number }
>
export const tell = (answer: Answer): string =>
  Result.isSuccess(answer) ? "granted" : `${answer.failure.code} ${answer.failure.reason ?? ""}`.trim()
const wait = (answer: Answer): number => (Result.isFailure(answer) ? (answer.failure.retryAfter ?? -1) : -1)

export const faucetContract = (bench: Effect.Effect<FaucetBench, never, Scope.Scope>): void => {
  const it = (name: string, test: (bench: FaucetBench) => Effect.Effect<unknown>) =>
    liveEffect(name, () => Effect.flatMap(bench, test))

  it("pays the advertised USDC and gas, and returns the transactions", ({ balance, faucet, merchant }) =>
    Effect.gen(function* () {
      const recipient = someone()
      const grant = yield* Effect.orDie(
        faucet.grant({ merchantId: yield* merchant, recipient, clientAddress: client() })
      )
      expect(grant).toMatchObject({ recipient, usdcAtomic: faucet.offer.usdcAtomic })
      expect(grant.transactionIds.length).toBeGreaterThan(0)
      expect(grant.transactionIds.every((id) => /^0x[0-9a-f]{64}$/.test(id))).toBe(true)
      expect(yield* balance(recipient)).toEqual({ usdcAtomic: grant.usdcAtomic, gasWei: grant.gasWei })
      expect(faucet.offer.enabled).toBe(true)
    }))

  for (const [limit, grants, seconds, vary] of [
    ["recipient", 3, day, { merchant: true, client: true, recipient: false }],
    ["merchant", 25, day, { merchant: false, client: true, recipient: true }],
    ["ip", 20, 3600, { merchant: true, client: false, recipient: true }]
  ] as const) {
    it(`${limit}: ${grants} in ${seconds} s, as a sliding window; retry-after is exact`, (bench) =>
      Effect.gen(function* () {
        const fixed = { merchantId: yield* bench.merchant, recipient: someone(), clientAddress: client() }
        const ask = Effect.gen(function* () {
          return yield* bench.faucet
            .grant({
              merchantId: vary.merchant ? yield* bench.merchant : fixed.merchantId,
              recipient: vary.recipient ? someone() : fixed.recipient,
              clientAddress: vary.client ? client() : fixed.clientAddress
            })
            .pipe(Effect.result)
        })
        expect(tell(yield* ask)).toBe("granted")
        yield* bench.pass(100)
        for (let grant = 1; grant < grants; grant++) expect(tell(yield* ask)).toBe("granted")
        const refused = yield* ask
        expect(tell(refused)).toBe(`FAUCET_LIMIT_REACHED ${limit}`)
        // The client's limit is known before any token is verified; the wallet's owner is not.
        const known = yield* Effect.result(bench.faucet.checkLimits(fixed))
        expect(tell(known)).toBe(limit === "recipient" ? "granted" : tell(refused))
        expect(wait(refused)).toBeGreaterThan(seconds - 190)
        expect(wait(refused)).toBeLessThanOrEqual(seconds - 100)
        // Seconds before the end of the window the limit still holds, and the answer says for how long.
        yield* bench.pass(wait(refused) - 20)
        const early = yield* ask
        expect(tell(early)).toBe(`FAUCET_LIMIT_REACHED ${limit}`)
        expect(wait(early)).toBeLessThanOrEqual(20)
        yield* bench.pass(wait(early))
        // Only one grant has left the window.
        expect(tell(yield* ask)).toBe("granted")
        expect(tell(yield* ask)).toBe(`FAUCET_LIMIT_REACHED ${limit}`)
      }))
  }

  it("of several full limits the longest wait is returned, and a retry after it succeeds", (bench) =>
    Effect.gen(function* () {
      const merchantId = yield* bench.merchant
      const recipient = someone()
      const clientAddress = client()
      const ask = (to: Address) =>
        bench.faucet.grant({ merchantId, recipient: to, clientAddress }).pipe(Effect.result)
      for (let grant = 0; grant < 3; grant++) expect(tell(yield* ask(recipient))).toBe("granted")
      for (let grant = 3; grant < 20; grant++) expect(tell(yield* ask(someone()))).toBe("granted")
      const refused = yield* ask(recipient)
      expect(tell(refused)).toBe("FAUCET_LIMIT_REACHED recipient")
      expect(wait(refused)).toBeGreaterThan(3600)
      yield* bench.pass(wait(refused))
      expect(tell(yield* ask(recipient))).toBe("granted")
    }))

  it("200 parallel calls on two instances: exactly three for a recipient", (bench) =>
    Effect.gen(function* () {
      const merchantId = yield* bench.merchant
      const recipient = someone()
      const answers = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        (index) =>
          (index % 2 === 0 ? bench.faucet : bench.second)
            .grant({ merchantId, recipient, clientAddress: client() })
            .pipe(Effect.result),
        { concurrency: "unbounded" }
      )
      expect(answers.map(tell).filter((one) => one === "granted")).toHaveLength(3)
      expect(answers.map(tell).filter((one) => one === "FAUCET_LIMIT_REACHED recipient")).toHaveLength(197)
      expect((yield* bench.balance(recipient)).usdcAtomic).toBe(3n * bench.faucet.offer.usdcAtomic)
    }))

  it("200 parallel calls on two instances: exactly twenty for a client address, each paid once", (bench) =>
    Effect.gen(function* () {
      const merchantId = yield* bench.merchant
      const clientAddress = client()
      const recipients = Array.from({ length: 200 }, someone)
      const answers = yield* Effect.forEach(
        recipients,
        (recipient, index) =>
          (index % 2 === 0 ? bench.faucet : bench.second)
            .grant({ merchantId, recipient, clientAddress })
            .pipe(Effect.result),
        { concurrency: "unbounded" }
      )
      expect(answers.map(tell).filter((one) => one === "granted")).toHaveLength(20)
      for (const [index, recipient] of recipients.entries()) {
        const answer = answers[index]
        const granted = answer !== undefined && Result.isSuccess(answer)
        const { usdcAtomic } = yield* bench.balance(recipient)
        expect(usdcAtomic).toBe(granted ? bench.faucet.offer.usdcAtomic : 0n)
      }
    }))

  it("an empty wallet and silent nodes give different errors, and count against no limit", (bench) =>
    Effect.gen(function* () {
      const request = { merchantId: yield* bench.merchant, recipient: someone(), clientAddress: client() }
      const ask = bench.faucet.grant(request).pipe(Effect.result)
      yield* bench.leave(bench.faucet.offer.usdcAtomic - 1n)
      for (let attempt = 0; attempt < 4; attempt++) expect(tell(yield* ask)).toBe("FAUCET_UNAVAILABLE empty")
      yield* bench.nodes(false)
      const down = yield* ask
      expect(tell(down)).toBe("CHAIN_UNAVAILABLE")
      expect(wait(down)).toBeGreaterThan(0)
      yield* bench.nodes(true)
      yield* bench.leave(bench.faucet.offer.usdcAtomic * 3n)
      for (let grant = 0; grant < 3; grant++) expect(tell(yield* ask)).toBe("granted")
      expect(tell(yield* ask)).toBe("FAUCET_LIMIT_REACHED recipient")
    }))

  it("if the money runs out in a rush, the granted amounts are paid and the rest is given back", (bench) =>
    Effect.gen(function* () {
      const merchantId = yield* bench.merchant
      yield* bench.leave(bench.faucet.offer.usdcAtomic * 4n)
      const recipients = Array.from({ length: 10 }, someone)
      const ask = (recipient: Address) =>
        bench.faucet.grant({ merchantId, recipient, clientAddress: client() }).pipe(Effect.result)
      const answers = yield* Effect.forEach(recipients, ask, { concurrency: "unbounded" })
      expect(answers.map(tell).sort()).toEqual([
        ...Array.from({ length: 6 }, () => "FAUCET_UNAVAILABLE empty"),
        ...Array.from({ length: 4 }, () => "granted")
      ])
      for (const [index, recipient] of recipients.entries()) {
        const answer = answers[index]
        const granted = answer !== undefined && Result.isSuccess(answer)
        expect((yield* bench.balance(recipient)).usdcAtomic).toBe(
          granted ? bench.faucet.offer.usdcAtomic : 0n
        )
      }
      // A grant that is given back counts against nobody: 4 of the merchant's 25 are used.
      yield* bench.leave(bench.faucet.offer.usdcAtomic * 1000n)
      for (let grant = 4; grant < 25; grant++) expect(tell(yield* ask(someone()))).toBe("granted")
      expect(tell(yield* ask(someone()))).toBe("FAUCET_LIMIT_REACHED merchant")
    }))
}
