// Nodes that lag, lie, err or are on another chain, before a real one: whatever
// they do, nothing settles that did not happen, and nothing is refused that did.
import { afterEach, describe, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import type { Expectation } from "../../src/chain/Verification.ts"
import { LocalChain } from "../../src/dev/LocalChain.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import {
  alerts,
  amount,
  anvilSuite,
  expectationOf,
  pay,
  person,
  usdc,
  verdictFor,
  verifierOver
} from "../support/anvilSuite.ts"
import { row } from "../support/attackRows.ts"
import { type Behaviour, patch, rpcProxy } from "../support/rpcProxy.ts"

const it = anvilSuite()
afterEach(() => {
  alerts.length = 0
})

/** A real payment, one block deep. */
const paid = Effect.gen(function* () {
  const chain = yield* LocalChain
  const [buyer, merchant] = yield* Effect.all([person(40), person(41)])
  yield* chain.mint(buyer, 10_000_000n)
  const hash = yield* pay(buyer, merchant, amount)
  yield* chain.mine()
  return { chain, buyer, merchant, hash, expected: expectationOf(hash, buyer, merchant) }
})

/** The verdict of a verifier over one proxy for each behaviour; undefined is an honest node. */
const verdictOver = Effect.fnUntraced(function* (
  expected: Expectation,
  behaviours: ReadonlyArray<Behaviour | undefined>,
  timeout = 300
) {
  const { rpcUrl } = yield* LocalChain
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(rpcUrl, behaviour))
  const urls = nodes.map(({ url }) => url)
  // The pool outlives the verdict: a slow dissenter is heard after it.
  const verifier = yield* Layer.build(verifierOver(urls, { timeout }))
  const verdict = yield* verdictFor(expected).pipe(Effect.provide(verifier))
  return { verdict, nodes }
})

const only =
  (method: string, reply: ReturnType<Behaviour>): Behaviour =>
  (asked) =>
    asked === method ? reply : undefined
const all =
  (reply: () => ReturnType<Behaviour>): Behaviour =>
  (method) =>
    method === "eth_chainId" ? undefined : reply()

const silent: Behaviour = all(() => new Promise(() => undefined))
const absent = only("eth_getTransactionReceipt", { result: null })
const text = (body: string, status = 200) => all(() => ({ raw: new Response(body, { status }) }))

describe(row.rpcLags, () => {
  const receipt = "eth_getTransactionReceipt"
  const block = "eth_getBlockByNumber"
  const faults: ReadonlyArray<readonly [string, Behaviour, string]> = [
    ["no receipt yet", absent, "pending: not_found"],
    ["a receipt, and its block not sealed", only(block, { result: null }), "pending: not_found"],
    ["a head that is behind", only("eth_blockNumber", { result: "0x1" }), "pending: confirmations"],
    ["HTTP 429", text("slow down", 429), "pending: rpc_unavailable"],
    ["HTTP 503", text("", 503), "pending: rpc_unavailable"],
    ["HTML", text("<html>"), "pending: rpc_unavailable"],
    ["an empty body", text(""), "pending: rpc_unavailable"],
    ["JSON that is no answer", text("[]"), "pending: rpc_unavailable"],
    ["JSON without end", text("[".repeat(100_000)), "pending: rpc_unavailable"],
    [
      "bytes that are no UTF-8",
      all(() => ({ raw: new Response(new Uint8Array([0xff, 0xfe])) })),
      "pending: rpc_unavailable"
    ],
    [
      "an endless answer",
      all(() => ({ raw: new Response(`"${"x".repeat(9_000_000)}"`) })),
      "pending: rpc_unavailable"
    ],
    [
      "a redirect",
      all(() => ({ raw: Response.redirect("http://127.0.0.1:1/") })),
      "pending: rpc_unavailable"
    ],
    ["an error", all(() => ({ error: { code: -32000, message: "boom" } })), "pending: rpc_unavailable"],
    [
      "a rate limit as an error",
      all(() => ({ error: { code: -32005, message: "limit" } })),
      "pending: rpc_unavailable"
    ],
    [
      "neither result nor error",
      all(() => ({ raw: Response.json({ jsonrpc: "2.0", id: 1 }) })),
      "pending: rpc_unavailable"
    ],
    [
      "the answer to another request",
      all(() => ({ raw: Response.json({ jsonrpc: "2.0", id: 999, result: "0x1" }) })),
      "pending: rpc_unavailable"
    ],
    ["silence", silent, "pending: rpc_unavailable"],
    ["a receipt that is text", only(receipt, { result: "yes" }), "pending: rpc_unavailable"],
    [
      "a receipt without logs",
      only(receipt, { change: patch({ logs: undefined }) }),
      "pending: rpc_unavailable"
    ],
    ["a status of its own", only(receipt, { change: patch({ status: "0x2" }) }), "pending: rpc_unavailable"],
    [
      "a block number beyond 256 bits",
      only(receipt, { change: patch({ blockNumber: `0x${"f".repeat(65)}` }) }),
      "pending: rpc_unavailable"
    ],
    [
      "the receipt of another transaction",
      only(receipt, { change: patch({ transactionHash: `0x${"0a".repeat(32)}` }) }),
      "pending: rpc_unavailable"
    ],
    [
      "another block than asked for",
      only(block, { change: patch({ number: "0x0" }) }),
      "pending: rpc_unavailable"
    ],
    [
      "a block without the transaction",
      only(block, { change: patch({ transactions: [] }) }),
      "pending: rpc_unavailable"
    ],
    [
      "another hash at that height",
      only(block, { change: patch({ hash: `0x${"0b".repeat(32)}` }) }),
      "pending: reorganised"
    ]
  ]
  for (const [name, behaviour, wanted] of faults) {
    it(`${name}: ${wanted}`, () =>
      Effect.gen(function* () {
        const { expected } = yield* paid
        expect((yield* verdictOver(expected, [behaviour])).verdict).toBe(wanted)
      }))
  }
  it("removed logs, foreign logs and logs out of order are no receipt", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const changeLogs = (changes: Record<string, unknown>) =>
        only(receipt, {
          change: (result) =>
            typeof result === "object" && result !== null && "logs" in result && Array.isArray(result.logs)
              ? { ...result, logs: [...result.logs, { ...result.logs[0], ...changes }] }
              : result
        })
      for (const changes of [
        { removed: true, logIndex: "0x9" },
        { transactionHash: `0x${"0c".repeat(32)}`, logIndex: "0x9" },
        { blockHash: `0x${"0d".repeat(32)}`, logIndex: "0x9" },
        { logIndex: "0x0" }
      ]) {
        expect((yield* verdictOver(expected, [changeLogs(changes)])).verdict).toBe("pending: rpc_unavailable")
      }
    }))
  it("a node that fails once is asked again", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      let failures = 1
      const flaky: Behaviour = (method) =>
        method === "eth_getTransactionReceipt" && failures-- > 0
          ? { raw: new Response("", { status: 502 }) }
          : undefined
      expect((yield* verdictOver(expected, [flaky])).verdict).toBe("verified at 0")
    }))
  it("nothing listens there", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const verdict = yield* verdictFor(expected).pipe(Effect.provide(verifierOver(["http://127.0.0.1:1"])))
      expect(verdict).toBe("pending: rpc_unavailable")
      expect(alerts.map(({ kind, host }) => [kind, host])).toEqual([["unreachable", "127.0.0.1:1"]])
    }))
  it("no node is configured", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      expect(yield* verdictFor(expected).pipe(Effect.provide(verifierOver([])))).toBe(
        "pending: rpc_unavailable"
      )
    }))
  it("two good nodes carry one that fails, and do not wait for one that is silent", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      for (const behaviour of [text("", 503), text("<html>"), absent, silent]) {
        expect((yield* verdictOver(expected, [behaviour, undefined, undefined])).verdict).toBe(
          "verified at 0"
        )
      }
      const started = performance.now()
      yield* verdictOver(expected, [silent, undefined, undefined], 5000)
      expect(performance.now() - started).toBeLessThan(1500)
    }))
  it("one good node of three is no majority", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const down = text("", 503)
      expect((yield* verdictOver(expected, [down, undefined, down])).verdict).toBe("pending: rpc_unavailable")
      expect((yield* verdictOver(expected, [absent, undefined, absent])).verdict).toBe("pending: not_found")
      expect((yield* verdictOver(expected, [absent, undefined])).verdict).toBe("pending: not_found")
    }))
  it("the depth is what a majority has reached", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const behind = only("eth_blockNumber", { result: "0x1" })
      expect((yield* verdictOver(expected, [behind, behind, undefined])).verdict).toBe(
        "pending: confirmations"
      )
    }))
})

describe(row.rpcLies, () => {
  const inventPayer = only("eth_getTransactionReceipt", {
    change: (result) =>
      typeof result === "object" && result !== null && "logs" in result ? { ...result, logs: [] } : result
  })
  const revertedLie = only("eth_getTransactionReceipt", { change: patch({ status: "0x0" }) })

  it("one of three lies: the majority decides, the liar is named by its host alone", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const { nodes, verdict } = yield* verdictOver(expected, [undefined, inventPayer, undefined])
      expect(verdict).toBe("verified at 0")
      yield* Effect.sleep("100 millis")
      expect(alerts.map(({ kind, host }) => [kind, host])).toEqual([["disagreement", nodes[1]?.host ?? ""]])
      expect(alerts[0]?.message).not.toContain("http")
    }))
  it("one of two lies: pending, and both are named", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      expect((yield* verdictOver(expected, [undefined, revertedLie])).verdict).toBe("pending: disagreement")
      expect(alerts.map(({ kind }) => kind)).toEqual(["disagreement", "disagreement"])
    }))
  it("three nodes, three stories: pending", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const { verdict } = yield* verdictOver(expected, [undefined, inventPayer, revertedLie])
      expect(verdict).toBe("pending: disagreement")
    }))
  it("a lie about a transfer that never was does not settle it", () =>
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
      yield* Effect.sleep("100 millis")
      expect(alerts.map(({ kind }) => kind)).toEqual(["disagreement"])
      expect((yield* verdictOver(lie, [undefined, liar])).verdict).toBe("pending: disagreement")
    }))
  it("the same alert comes once a minute, not with each report", () =>
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
  it("the chain id is asked again after the connection broke", () =>
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
      expect((yield* check([undefined])).verdict).toBe("ok")
      expect((yield* check([])).verdict).toBe("unconfigured")
      expect((yield* check([mainnet])).message).toContain("does not serve Base Sepolia (chain id 84532)")
      expect((yield* check([only("eth_getCode", { result: "0x" })])).verdict).toBe("no_token")
      expect((yield* check([only("eth_call", { result: `0x${"00".repeat(32)}` })])).verdict).toBe(
        "wrong_domain"
      )
      expect(
        (yield* check([only("eth_call", { error: { code: 3, message: "execution reverted" } })])).verdict
      ).toBe("wrong_domain")
      expect((yield* check([text("", 503)])).verdict).toBe("unavailable")
      expect((yield* check([undefined, undefined, text("", 503)])).verdict).toBe("ok")
      expect((yield* check([undefined, undefined, mainnet])).verdict).toBe("wrong_chain")
    }))
  it("the live chain is not confused with the test chain", () =>
    Effect.gen(function* () {
      const verifier = yield* ChainVerifier
      expect((yield* verifier.checkNetwork("live")).verdict).toBe("unconfigured")
      expect((yield* Effect.flip(verifier.readBalance("live", usdc))).reason).toBe("unconfigured")
    }))
})

describe(row.hammering, () => {
  it("a confirmed transfer costs three calls and one chain id", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl)
      yield* Effect.gen(function* () {
        yield* (yield* ChainVerifier).head("test")
        node.calls.length = 0
        expect(yield* verdictFor(expected)).toBe("verified at 0")
      }).pipe(Effect.provide(verifierOver([node.url])))
      expect(node.calls.toSorted()).toEqual([
        "eth_blockNumber",
        "eth_getBlockByNumber",
        "eth_getTransactionReceipt"
      ])
    }))
  it("two hundred reports of one transaction cost one round", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl)
      yield* Effect.gen(function* () {
        const reports = Array.from({ length: 200 }, (_, index) =>
          verdictFor({ ...expected, ...(index % 2 === 0 ? {} : { payer: usdc }) })
        )
        const verdicts = yield* Effect.all(reports, { concurrency: "unbounded" })
        expect(new Set(verdicts)).toEqual(new Set(["verified at 0", "mismatch: payer"]))
      }).pipe(Effect.provide(verifierOver([node.url], { memory: 5000 })))
      expect(node.calls.length).toBeLessThanOrEqual(5)
    }))
  it("a negative answer is remembered for a moment only", () =>
    Effect.gen(function* () {
      const { chain, expected } = yield* paid
      const node = yield* rpcProxy(chain.rpcUrl, absent)
      yield* Effect.gen(function* () {
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
        node.behave(() => undefined)
        expect(yield* verdictFor(expected)).toBe("pending: not_found")
        yield* Effect.sleep("120 millis")
        expect(yield* verdictFor(expected)).toBe("verified at 0")
      }).pipe(Effect.provide(verifierOver([node.url], { memory: 100 })))
    }))
})

describe("balances", () => {
  it("atomic USDC and wei, from the first node that answers", () =>
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
        expect(error._tag).toBe("ChainUnavailable")
      }
    }))
})
