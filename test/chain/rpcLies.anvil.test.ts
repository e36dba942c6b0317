// Nodes that lie or serve another chain, and reports that hammer them: nothing settles that did not happen, and the
// nodes get a bounded number of requests.
import { beforeEach, describe, expect } from "bun:test"
import { Effect, Schedule } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { alerts, anvilSuite, person, usdc, verdictFor, verifierOver } from "../support/anvilSuite.ts"
import { row } from "../support/attackRows.ts"
import { absent, only, paid, text, verdictOver } from "../support/faultyNodes.ts"
import { type Behaviour, patch, rpcProxy } from "../support/rpcProxy.ts"

/** Waits for a slow dissenter. */
const alertsHeard = (count: number) =>
  Effect.sync(() => alerts.length).pipe(
    Effect.repeat({ until: (heard) => heard >= count, schedule: Schedule.spaced("10 millis") }),
    Effect.timeoutOption("20 seconds")
  )

const it = anvilSuite()
beforeEach(() => {
  alerts.length = 0
})

describe(row.rpcLies, () => {
  const inventPayer = only("eth_getTransactionReceipt", {
    change: (result) =>
      typeof result === "object" && result !== null && "logs" in result ? { ...result, logs: [] } : result
  })
  const revertedLie = only("eth_getTransactionReceipt", { change: patch({ status: "0x0" }) })

  it("one of three lies: the majority decides, and the alert names the liar by its host only", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const { nodes, verdict } = yield* verdictOver(expected, [undefined, inventPayer, undefined])
      expect(verdict).toBe("verified at 0")
      yield* alertsHeard(1)
      expect(alerts.map(({ kind, host }) => [kind, host])).toEqual([["disagreement", nodes[1]?.host ?? ""]])
      expect(alerts[0]?.message).not.toContain("http")
    }))
  it("one of two lies: pending, and the alert names both", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      expect((yield* verdictOver(expected, [undefined, revertedLie])).verdict).toBe("pending: disagreement")
      expect(alerts.map(({ kind }) => kind)).toEqual(["disagreement", "disagreement"])
    }))
  it("three nodes, three answers: pending", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const { verdict } = yield* verdictOver(expected, [undefined, inventPayer, revertedLie])
      expect(verdict).toBe("pending: disagreement")
    }))
  it("a lie about a transfer that does not exist does not settle it", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const receipt = yield* chain.rpc("eth_getTransactionReceipt", [expected.transactionId])
      const never = TransactionHash.make(`0x${"5e".repeat(32)}`)
      const invented: unknown = JSON.parse(JSON.stringify(receipt).replaceAll(expected.transactionId, never))
      const liar: Behaviour = (method) => {
        if (method === "eth_getTransactionReceipt") return { result: invented }
        return method === "eth_getBlockByNumber" ? { change: patch({ transactions: [never] }) } : undefined
      }
      yield* chain.mine(8)
      const lie = { ...expected, transactionId: never }
      expect((yield* verdictOver(lie, [undefined, liar, undefined])).verdict).toBe("pending: not_found")
      yield* alertsHeard(1)
      expect(alerts.map(({ kind }) => kind)).toEqual(["disagreement"])
      expect((yield* verdictOver(lie, [undefined, liar])).verdict).toBe("pending: disagreement")
    }))
  it("the same alert is raised once a minute, not with each report", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const liar = yield* rpcProxy(chain.rpcUrl, revertedLie)
      yield* Effect.gen(function* () {
        for (let report = 0; report < 5; report++) yield* verdictFor(expected)
      }).pipe(Effect.provide(verifierOver([chain.rpcUrl, liar.url])))
      expect(alerts).toHaveLength(2)
    }))
})

describe(row.wrongChain, () => {
  const mainnet = only("eth_chainId", { result: "0x1" })
  it("a node of another chain is never believed", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const { nodes, verdict } = yield* verdictOver(expected, [mainnet])
      expect(verdict).toBe("pending: rpc_unavailable")
      expect(nodes[0]?.calls).not.toContain("eth_getBlockByNumber")
      expect(alerts.map(({ kind }) => kind)).toEqual(["wrong_chain"])
    }))
  it("the chain id is read again after the connection broke", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl)
      yield* Effect.gen(function* () {
        expect(yield* verdictFor(expected)).toBe("verified at 0")
        expect(yield* verdictFor(expected)).toBe("verified at 0")
        expect(node.calls.filter((method) => method === "eth_chainId").length).toBeLessThanOrEqual(2)
        node.behave(() => ({ raw: new Response("", { status: 502 }) }))
        expect(yield* verdictFor(expected)).toBe("pending: rpc_unavailable")
        node.behave(mainnet)
        expect(yield* verdictFor(expected)).toBe("pending: rpc_unavailable")
        node.behave(() => undefined)
        expect(yield* verdictFor(expected)).toBe("verified at 0")
      }).pipe(Effect.provide(verifierOver([node.url])))
    }))

  const check = Effect.fnUntraced(function* (behaviours: ReadonlyArray<Behaviour | undefined>) {
    const { rpcUrl } = yield* LocalChain
    const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(rpcUrl, behaviour))
    const verifier = yield* Effect.provide(ChainVerifier, verifierOver(nodes.map(({ url }) => url)))
    return yield* verifier.checkNetwork("test")
  })
  it("the start-up check: chain id, code and domain separator", () =>
    Effect.gen(function* () {
      expect((yield* check([undefined])).status).toBe("ok")
      expect((yield* check([])).status).toBe("unconfigured")
      expect((yield* check([mainnet])).message).toContain("does not serve Base Sepolia (chain id 84532)")
      expect((yield* check([only("eth_getCode", { result: "0x" })])).status).toBe("no_token")
      expect((yield* check([only("eth_call", { result: `0x${"00".repeat(32)}` })])).status).toBe(
        "wrong_domain"
      )
      expect(
        (yield* check([only("eth_call", { error: { code: 3, message: "execution reverted" } })])).status
      ).toBe("wrong_domain")
      expect((yield* check([text("", 503)])).status).toBe("unavailable")
      expect((yield* check([undefined, undefined, text("", 503)])).status).toBe("ok")
      expect((yield* check([undefined, undefined, mainnet])).status).toBe("wrong_chain")
    }))
  it("the live chain is not confused with the test chain", () =>
    Effect.gen(function* () {
      const verifier = yield* ChainVerifier
      expect((yield* verifier.checkNetwork("live")).status).toBe("unconfigured")
      expect((yield* Effect.flip(verifier.readBalance("live", usdc))).reason).toBe("unconfigured")
    }))
})

describe(row.hammering, () => {
  it("a confirmed transfer costs three calls and one read of the chain id", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl)
      yield* Effect.gen(function* () {
        yield* (yield* ChainVerifier).headBlock("test")
        node.calls.length = 0
        expect(yield* verdictFor(expected)).toBe("verified at 0")
      }).pipe(Effect.provide(verifierOver([node.url])))
      expect(node.calls.toSorted()).toEqual([
        "eth_blockNumber",
        "eth_getBlockByNumber",
        "eth_getTransactionReceipt"
      ])
    }))
  it("two hundred reports of one transaction cost one round of calls", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl)
      yield* Effect.gen(function* () {
        const reports = Array.from({ length: 200 }, (_, index) =>
          verdictFor({ ...expected, ...(index % 2 === 0 ? {} : { payer: usdc }) })
        )
        const verdicts = yield* Effect.all(reports, { concurrency: "unbounded" })
        expect(new Set(verdicts)).toEqual(new Set(["verified at 0", "mismatch: payer"]))
      }).pipe(Effect.provide(verifierOver([node.url], { cacheTtl: 5000 })))
      expect(node.calls.length).toBeLessThanOrEqual(5)
    }))
  it("a negative answer is cached for a moment only", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl, absent)
      yield* Effect.gen(function* () {
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
        node.behave(() => undefined)
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
        yield* Effect.sleep("2200 millis")
        expect(yield* verdictFor(expected)).toBe("verified at 0")
      }).pipe(Effect.provide(verifierOver([node.url], { cacheTtl: 2_000 })))
    }))
  it("a negative answer is reused while the head is the same, and expires with the next block", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl, absent)
      const rounds = () => node.calls.filter((method) => method === "eth_getTransactionReceipt").length
      yield* Effect.gen(function* () {
        for (let report = 0; report < 20; report++) {
          expect(yield* verdictFor(expected)).toBe("pending: not_found")
          yield* Effect.sleep("20 millis")
        }
        expect(rounds()).toBe(1)
        node.behave(() => undefined)
        yield* chain.mine()
        yield* Effect.sleep("60 millis")
        expect(yield* verdictFor(expected)).toBe("verified at 0")
        expect(rounds()).toBe(2)
      }).pipe(Effect.provide(verifierOver([node.url], { cacheTtl: 50, negativeCacheTtl: 60_000 })))
    }))
  it("a negative answer expires after its time on a halted chain", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl, absent)
      yield* Effect.gen(function* () {
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
        node.behave(() => undefined)
        yield* Effect.sleep("60 millis")
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
        yield* Effect.sleep("3 seconds")
        expect(yield* verdictFor(expected)).toBe("verified at 0")
      }).pipe(Effect.provide(verifierOver([node.url], { cacheTtl: 20, negativeCacheTtl: 3_000 })))
    }))
  it("a settlement never relies on an old observation", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl)
      yield* Effect.gen(function* () {
        // The wrong buyer's report leaves an observation that would prove the right buyer's.
        expect(yield* verdictFor({ ...expected, payer: usdc })).toBe("mismatch: payer")
        node.behave(absent)
        yield* Effect.sleep("60 millis")
        expect(yield* verdictFor({ ...expected, payer: usdc })).toBe("mismatch: payer")
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
      }).pipe(Effect.provide(verifierOver([node.url], { cacheTtl: 20, negativeCacheTtl: 5000 })))
    }))
})

describe("balances", () => {
  it("atomic USDC and wei are read from the first node that answers", () =>
    Effect.gen(function* () {
      const { chain } = yield* paid
      const holder = yield* person(49)
      yield* chain.mint(holder, 7n)
      yield* chain.setEth(holder, 12n)
      const broken = yield* rpcProxy(chain.rpcUrl, text("", 503))
      const read = (urls: ReadonlyArray<string>) =>
        Effect.flatMap(ChainVerifier, (verifier) => verifier.readBalance("test", holder)).pipe(
          Effect.provide(verifierOver(urls))
        )
      expect(yield* read([broken.url, chain.rpcUrl])).toEqual({ usdcAtomic: 7n, gasWei: 12n })
      expect((yield* Effect.flip(read([broken.url]))).reason).toBe("rpc_unavailable")
    }))
  it("an answer of the wrong size is no balance", () =>
    Effect.gen(function* () {
      const { chain, buyer } = yield* paid
      for (const result of ["0x", "0x01", `0x${"00".repeat(64)}`, null, 5]) {
        const odd = yield* rpcProxy(chain.rpcUrl, only("eth_call", { result }))
        const error = yield* Effect.flip(
          Effect.flatMap(ChainVerifier, (verifier) => verifier.readBalance("test", buyer)).pipe(
            Effect.provide(verifierOver([odd.url]))
          )
        )
        expect(error._tag).toBe("RpcUnavailable")
      }
    }))
})
