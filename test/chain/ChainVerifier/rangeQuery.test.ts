// Nodes' answers about a range of blocks: which are believed, which are checked again, and what a past that nodes have
// deleted counts as.
import { describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { type Hex, keccak256, toHex } from "viem"
import { rangeQuery, readingOf } from "../../../src/chain/ChainVerifier/rangeQuery.ts"
import { transferTopic } from "../../../src/chain/ChainVerifier/TransferLog.ts"
import { everyTransfer, type ReceiverFilter, receiverFilter } from "../../../src/chain/ReceiverFilter.ts"
import { RpcPool } from "../../../src/chain/RpcPool.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { networks } from "../../../src/domain/networks.ts"
import { type Reply, rpcProxy } from "../../support/rpcProxy.ts"
import { liveEffect } from "../../support/run.ts"

const usdc = networks.test.usdc.address.toLowerCase()
const [shop, buyer, stranger] = ["a1", "b2", "c3"].map((end) =>
  Address.make(`0x${end.padStart(40, "1")}`)
) as [Address, Address, Address]
const topicOf = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}` as const
const hashOf = (height: number) => keccak256(toHex(height))

interface Transfer {
  readonly block: number
  readonly to: Address
  readonly from?: Address
}

const bloomOf = (values: ReadonlyArray<Hex>) => {
  const bloom = new Uint8Array(256)
  for (const value of values) {
    const hash = keccak256(value, "bytes")
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
      bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
    }
  }
  return toHex(bloom)
}

const logOf = ({ block, from = buyer, to }: Transfer) => ({
  address: usdc,
  topics: [transferTopic, topicOf(from), topicOf(to)],
  data: toHex(5n, { size: 32 }),
  logIndex: "0x0",
  transactionHash: keccak256(toHex(1_000 + block)),
  blockHash: hashOf(block),
  blockNumber: toHex(block)
})

interface Node {
  readonly head: number
  /** The oldest block that the node has. */
  readonly oldest?: number
  readonly transfers: ReadonlyArray<Transfer>
  /** The node's own answer to a call, before the usual one. */
  readonly instead?: (method: string, params: ReadonlyArray<unknown>) => Reply | undefined
}

const answer = ({ head, instead, oldest = 0, transfers }: Node) => {
  const header = (height: number) => {
    const own = transfers.filter(({ block }) => block === height)
    return {
      number: toHex(height),
      hash: hashOf(height),
      parentHash: hashOf(height - 1),
      timestamp: toHex(1_000 + height),
      logsBloom: bloomOf(own.flatMap((one) => [usdc as Hex, ...(logOf(one).topics as Array<Hex>)]))
    }
  }
  return (method: string, params: ReadonlyArray<unknown>): Reply => {
    const special = instead?.(method, params)
    if (special !== undefined) return special
    const [first] = params
    switch (method) {
      case "eth_chainId":
        return { result: "0x14a34" }
      case "eth_blockNumber":
        return { result: toHex(head) }
      case "eth_getBlockByNumber": {
        const height = Number(first)
        return { result: height > head || height < oldest ? null : header(height) }
      }
      case "eth_getBlockReceipts":
        return {
          result: transfers
            .filter(({ block }) => hashOf(block) === first)
            .map((one) => ({ logs: [{ ...logOf(one), blockNumber: undefined }] }))
        }
      case "eth_getLogs": {
        const { blockHash, fromBlock, toBlock, topics } = Object(first)
        return {
          result: transfers
            .filter(({ block }) =>
              blockHash === undefined
                ? block >= Number(fromBlock) && block <= Number(toBlock)
                : hashOf(block) === blockHash
            )
            .map(logOf)
            .filter((log) =>
              topics.every(
                (wanted: unknown, at: number) => wanted === null || [wanted].flat().includes(log.topics[at])
              )
            )
        }
      }
      default:
        return { error: { code: -32_601, message: `no ${method}` } }
    }
  }
}

const read = Effect.fnUntraced(function* (
  nodes: ReadonlyArray<Node>,
  from: number,
  to: number,
  filter: ReceiverFilter = receiverFilter([shop])
) {
  const proxies = yield* Effect.forEach(nodes, (node) => rpcProxy(undefined, answer(node)))
  const context = yield* Layer.build(
    RpcPool.layer({ urls: { test: proxies.map(({ url }) => url) }, retries: 0 })
  )
  const pool = Context.get(context, RpcPool)
  const reading = readingOf(
    "test",
    yield* pool.poll("test", rangeQuery("test", BigInt(from), BigInt(to), filter))
  )
  return { reading, calls: proxies.flatMap(({ calls }) => calls) }
})
const transfersOf = ({ reading }: Effect.Success<ReturnType<typeof read>>) =>
  reading._tag === "Read"
    ? reading.transfers.map(({ blockNumber, receiver }) => `${blockNumber} ${receiver.toLowerCase()}`)
    : reading._tag

const paid = { block: 7, to: shop }
const others = { block: 7, to: stranger }

describe("a filter of receivers", () => {
  liveEffect("finds transfers to and from the receivers, and nothing else", () =>
    Effect.gen(function* () {
      const node = {
        head: 10,
        transfers: [paid, { block: 8, to: stranger, from: shop }, { block: 9, to: stranger }]
      }
      expect(transfersOf(yield* read([node], 6, 9))).toEqual([`7 ${shop}`, `8 ${stranger}`])
      expect(transfersOf(yield* read([node], 6, 9, everyTransfer))).toHaveLength(3)
    })
  )
  liveEffect("queries in batches, and for everything if there are too many receivers", () =>
    Effect.gen(function* () {
      const many = (count: number) =>
        Array.from({ length: count }, (_, index) => Address.make(`0x${String(index).padStart(40, "2")}`))
      const node = { head: 10, transfers: [{ block: 7, to: many(600)[599] ?? shop }] }
      const batched = yield* read([node], 6, 9, receiverFilter(many(600)))
      expect(transfersOf(batched)).toHaveLength(1)
      expect(batched.calls.filter((method) => method === "eth_getLogs")).toHaveLength(6)
      expect(receiverFilter(many(1_001))).toBe(everyTransfer)
    })
  )
  liveEffect("without addresses queries no logs", () =>
    Effect.gen(function* () {
      const { calls, reading } = yield* read([{ head: 10, transfers: [paid] }], 7, 7, receiverFilter([]))
      expect(reading._tag).toBe("Read")
      expect(calls).not.toContain("eth_getLogs")
    })
  )
})

describe("an empty list of logs", () => {
  /** A log index that lags behind the block for the first calls. */
  const lagging = (times: number) => {
    let left = times
    return (method: string): Reply | undefined =>
      method === "eth_getLogs" && left-- > 0 ? { result: [] } : undefined
  }
  for (const times of [1, 2, 3])
    liveEffect(
      `is not believed if the block's bloom contradicts it: the logs are complete after ${times}`,
      () =>
        Effect.gen(function* () {
          const node = { head: 10, transfers: [paid], instead: lagging(times) }
          expect(transfersOf(yield* read([node], 7, 7))).toEqual([`7 ${shop}`])
        })
    )
  liveEffect("that never ends is overruled by the block's receipts", () =>
    Effect.gen(function* () {
      const node = { head: 10, transfers: [paid, others], instead: lagging(99) }
      const first = yield* read([node], 7, 7)
      expect(transfersOf(first)).toEqual([`7 ${shop}`])
      expect(first.calls).toContain("eth_getBlockReceipts")
    })
  )
  for (const [what, reply, ofOld] of [
    ["offers none at all", { error: { code: -32_601, message: "not available on this plan" } }, []],
    ["has none yet", { result: null }, "Missing"],
    ["has some of them", { result: [] }, "Missing"],
    ["is busy", { error: { code: -32_005, message: "rate limit of your plan" } }, "Unread"],
    ["fails", { error: { code: -32_000, message: "internal error" } }, "Unread"]
  ] as const)
    liveEffect(
      `of a block is not believed while the node's receipts do not confirm it: the node ${what}`,
      () =>
        Effect.gen(function* () {
          const lag = lagging(6)
          const nodeAt = (seconds: number): Node => ({
            head: 10,
            transfers: [paid],
            instead: (method) => {
              if (method === "eth_getBlockReceipts") return reply
              if (method !== "eth_getBlockByNumber") return lag(method)
              const timestamp = toHex(Math.floor(Date.now() / 1_000) - seconds)
              const logsBloom = bloomOf([usdc as Hex, ...(logOf(paid).topics as Array<Hex>)])
              return {
                result: {
                  ...{ number: "0x7", hash: hashOf(7), parentHash: hashOf(6), timestamp, logsBloom },
                  transactions: [keccak256("0x01")]
                }
              }
            }
          })
          const fresh = nodeAt(5)
          expect(transfersOf(yield* read([fresh], 7, 7))).toBe(ofOld === "Unread" ? "Unread" : "Behind")
          expect(transfersOf(yield* read([nodeAt(60)], 7, 7))).toEqual(typeof ofOld === "string" ? ofOld : [])
          expect(transfersOf(yield* read([fresh], 7, 7))).toEqual([`7 ${shop}`])
        })
    )
  for (const [what, receipt, expected] of [
    ["one that is whole", {}, [`7 ${shop}`]],
    ["one of another block", { blockHash: hashOf(6) }, "Missing"],
    ["none", null, "Missing"]
  ] as const)
    liveEffect(
      `of an old block is decided by the receipts of its transactions if the node offers no others: ${what}`,
      () =>
        Effect.gen(function* () {
          const { transactionHash } = logOf(paid)
          const mined = {
            ...{ transactionHash, blockHash: hashOf(7), blockNumber: "0x7", status: "0x1" },
            logs: [logOf(paid)]
          }
          const node: Node = {
            head: 500,
            transfers: [paid],
            instead: (method) => {
              switch (method) {
                case "eth_getLogs":
                  return { result: [] }
                case "eth_getBlockReceipts":
                  return { error: { code: -32_601, message: "the method does not exist" } }
                case "eth_getTransactionReceipt":
                  return { result: receipt === null ? null : { ...mined, ...receipt } }
                case "eth_getBlockByNumber":
                  return {
                    result: {
                      ...{ number: "0x7", hash: hashOf(7), parentHash: hashOf(6), timestamp: "0x1" },
                      logsBloom: bloomOf([usdc as Hex, ...(logOf(paid).topics as Array<Hex>)]),
                      transactions: [transactionHash]
                    }
                  }
                default:
                  return undefined
              }
            }
          }
          expect(transfersOf(yield* read([node], 7, 7))).toEqual(
            typeof expected === "string" ? expected : [...expected]
          )
        })
    )
  liveEffect("is believed if the node's logs include other transfers of the block", () =>
    Effect.gen(function* () {
      // The bloom contains both transfers, one by chance.
      const node: Node = {
        head: 10,
        transfers: [others],
        instead: (method) =>
          method === "eth_getBlockByNumber"
            ? {
                result: {
                  number: "0x7",
                  hash: hashOf(7),
                  parentHash: hashOf(6),
                  timestamp: "0x1",
                  logsBloom: `0x${"f".repeat(512)}`
                }
              }
            : undefined
      }
      const { calls, reading } = yield* read([node], 7, 7)
      expect(reading._tag).toBe("Read")
      expect(calls).not.toContain("eth_getBlockReceipts")
    })
  )
  liveEffect("is believed at once if the bloom contains none of the receivers", () =>
    Effect.gen(function* () {
      const { calls, reading } = yield* read([{ head: 10, transfers: [others] }], 7, 7)
      expect(reading._tag).toBe("Read")
      expect(calls.filter((method) => method === "eth_getLogs")).toHaveLength(2)
    })
  )
  liveEffect("of a range is not believed if its last block's bloom contradicts it", () =>
    Effect.gen(function* () {
      const node: Node = {
        head: 500,
        transfers: [paid],
        instead: (method, [place]) =>
          method === "eth_getLogs" && "fromBlock" in Object(place) ? { result: [] } : undefined
      }
      expect((yield* read([node], 3, 7)).reading._tag).toBe("Unread")
    })
  )
  liveEffect(
    "of a range whose last block lacks its receipts is unread, and that block alone is missing",
    () =>
      Effect.gen(function* () {
        const node: Node = {
          head: 500,
          transfers: [paid],
          instead: (method) =>
            method === "eth_getLogs"
              ? { result: [] }
              : method === "eth_getBlockReceipts"
                ? { result: null }
                : undefined
        }
        expect((yield* read([node], 3, 7)).reading._tag).toBe("Unread")
        expect((yield* read([node], 7, 7)).reading._tag).toBe("Missing")
      })
  )
})

describe("a past that nodes have deleted", () => {
  const archive: Node = { head: 1_000, transfers: [paid] }
  const pruned: Node = { head: 1_000, oldest: 500, transfers: [paid] }
  const words: Node = {
    ...archive,
    instead: (method) =>
      method === "eth_getLogs" ? { error: { code: 4444, message: "pruned history unavailable" } } : undefined
  }
  const silent: Node = { ...archive, instead: () => ({ raw: new Response("", { status: 502 }) }) }
  for (const [what, nodes, from, to, tag] of [
    ["its only node", [pruned], 7, 7, "Missing"],
    ["its only node, at the start of a range", [pruned], 7, 600, "Missing"],
    ["its only node, in words", [words], 7, 7, "Missing"],
    ["one of two nodes", [pruned, archive], 7, 7, "Missing"],
    ["one of three nodes", [pruned, archive, archive], 7, 7, "Read"],
    ["two of three nodes", [pruned, words, archive], 7, 7, "Missing"],
    ["one of three nodes, with a silent one", [pruned, silent, archive], 7, 7, "Unread"],
    ["nobody: above the head", [archive], 1_001, 1_001, "Behind"],
    ["nobody: a machine that lags", [{ ...archive, head: 40, oldest: 900 }], 20, 20, "Behind"]
  ] as const)
    liveEffect(`is missing in ${what}: ${tag}`, () =>
      Effect.gen(function* () {
        expect((yield* read(nodes, from, to)).reading._tag).toBe(tag)
      })
    )
})

describe("a query for too wide a range", () => {
  for (const [message, refused] of [
    ["up to a 10 block range", true],
    ["computer says no", true]
  ] as const)
    liveEffect(`is refused with "${message}": a narrower one may be answered`, () =>
      Effect.gen(function* () {
        const node: Node = {
          head: 1_000,
          transfers: [],
          instead: (method) => (method === "eth_getLogs" ? { error: { code: -32_600, message } } : undefined)
        }
        expect((yield* read([node], 7, 600)).reading).toMatchObject({ _tag: "Unread", refused })
      })
    )
  liveEffect("is not confused with silence", () =>
    Effect.gen(function* () {
      const node: Node = {
        head: 1_000,
        transfers: [],
        instead: (method) =>
          method === "eth_getLogs" ? { raw: new Response("", { status: 502 }) } : undefined
      }
      expect((yield* read([node], 7, 600)).reading).toMatchObject({ _tag: "Unread", refused: false })
    })
  )
})

liveEffect("logs of other addresses are not a valid answer", () =>
  Effect.gen(function* () {
    const node: Node = {
      head: 10,
      transfers: [],
      instead: (method) => (method === "eth_getLogs" ? { result: [logOf(others)] } : undefined)
    }
    expect((yield* read([node], 7, 7)).reading._tag).toBe("Unread")
  })
)
