// Nodes that lag, err, garble or are silent: an unknown transaction is pending, never refused.
import { beforeEach, describe, expect } from "bun:test"
import { Effect } from "effect"
import { alerts, anvilSuite, verdictFor, verifierOver } from "../support/anvilSuite.ts"
import { row } from "../support/attackRows.ts"
import { absent, all, only, paid, silent, text, verdictOver } from "../support/faultyNodes.ts"
import { type Behaviour, patch } from "../support/rpcProxy.ts"

const it = anvilSuite()
beforeEach(() => {
  alerts.length = 0
})

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
        const timeout = behaviour === silent ? 300 : undefined
        expect((yield* verdictOver(expected, [behaviour], timeout)).verdict).toBe(wanted)
      }))
  }
  it("removed logs, foreign logs and logs out of order make a receipt invalid", () =>
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
  it("a node that fails once is called again", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      let failures = 1
      const flaky: Behaviour = (method) =>
        method === "eth_getTransactionReceipt" && failures-- > 0
          ? { raw: new Response("", { status: 502 }) }
          : undefined
      expect((yield* verdictOver(expected, [flaky])).verdict).toBe("verified at 0")
    }))
  it("a node where nothing listens", () =>
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
  it("two good nodes outvote one that fails, and do not wait for one that is silent", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      for (const behaviour of [text("", 503), text("<html>"), absent, silent]) {
        expect((yield* verdictOver(expected, [behaviour, undefined, undefined])).verdict).toBe(
          "verified at 0"
        )
      }
      const started = performance.now()
      yield* verdictOver(expected, [silent, undefined, undefined], 15_000)
      expect(performance.now() - started).toBeLessThan(10_000)
    }))
  it("one good node of three is no majority", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const down = text("", 503)
      expect((yield* verdictOver(expected, [down, undefined, down])).verdict).toBe("pending: rpc_unavailable")
      expect((yield* verdictOver(expected, [absent, undefined, absent])).verdict).toBe("pending: not_found")
      // One has it and one does not yet: neither wins.
      expect((yield* verdictOver(expected, [absent, undefined])).verdict).toBe("pending: spreading")
    }))
  it("the depth is the one that a majority has reached", () =>
    Effect.gen(function* () {
      const { expected } = yield* paid
      const behind = only("eth_blockNumber", { result: "0x1" })
      expect((yield* verdictOver(expected, [behind, behind, undefined])).verdict).toBe(
        "pending: confirmations"
      )
    }))
})
