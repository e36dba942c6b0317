// What an open network needs beside what each node needs: tags, agreement, logs, and a relaying wallet and receivers
// that USDC has not blacklisted.
import { BigInt as BigIntOrder, Effect, Schema } from "effect"
import { encodeFunctionData, padHex, parseAbi } from "viem"
import { type OneNode, oneNode } from "../../../chain/oneNode.ts"
import { BlockHeader, Head, Word } from "../../../chain/RpcSchemas.ts"
import type { Address, Env } from "../../../domain/Chain.ts"
import { type Network, networks } from "../../../domain/networks.ts"
import { type Finding, failure, ok, warning } from "./Finding.ts"

const blacklist = parseAbi(["function isBlacklisted(address) view returns (bool)"])
/** Blocks of one question for logs, the widest first. */
const widths = [10_000n, 1_000n, 100n, 10n] as const

const hex = (height: bigint) => `0x${height.toString(16)}`

const tagged = ({ call }: OneNode, tag: "safe" | "finalized") =>
  Effect.option(call("eth_getBlockByNumber", [tag, false], Head))

/** The widest question for the token's logs that the node answers. */
const widestOf = Effect.fnUntraced(function* ({ call }: OneNode, { usdc }: Network, head: bigint) {
  for (const width of widths) {
    const range = { fromBlock: hex(head > width ? head - width + 1n : 0n), toBlock: hex(head) }
    // Few transfers come from the token itself: what counts is whether the range is allowed.
    const topics = [null, padHex(usdc.address, { size: 32 })]
    const asked = call(
      "eth_getLogs",
      [{ address: usdc.address, topics, ...range }],
      Schema.Array(Schema.Unknown)
    )
    if (yield* Effect.isSuccess(asked)) return width
  }
  return undefined
})

const ofNode = Effect.fnUntraced(function* (network: Network, url: string) {
  const about = `node ${URL.parse(url)?.host ?? "?"}`
  const node = oneNode(network.env, url)
  const started = performance.now()
  const head = yield* Effect.option(node.call("eth_getBlockByNumber", ["latest", false], Head))
  // Another finding says that it is silent.
  if (head._tag === "None") return { findings: [], finalized: undefined, node }
  const millis = Math.round(performance.now() - started)
  const [safe, finalized] = yield* Effect.all([tagged(node, "safe"), tagged(node, "finalized")])
  const width = yield* widestOf(node, network, head.value.number)
  const findings: ReadonlyArray<Finding> = [
    safe._tag === "None" || finalized._tag === "None"
      ? failure(about, `It names no safe and finalized block of ${network.name}. Take another node.`)
      : ok(
          about,
          `Answers in ${millis} ms; safe ${head.value.timestamp - safe.value.timestamp} s and finalized ${head.value.timestamp - finalized.value.timestamp} s behind its newest block`
        ),
    width === undefined
      ? failure(about, "It returns no logs. Check its plan, or take another node.")
      : width < 1_000n
        ? warning(
            about,
            `It returns the logs of ${width} blocks at once: after an outage, reading takes long.`
          )
        : ok(about, `It returns the logs of ${width} blocks at once`)
  ]
  return { findings, finalized: finalized._tag === "Some" ? finalized.value.number : undefined, node }
})

/** Whether all show the same block at the lowest of their final heights. */
const agreement = Effect.fnUntraced(function* (
  { name, nodes }: Network,
  asked: ReadonlyArray<{ readonly finalized: bigint | undefined; readonly node: OneNode }>
) {
  const heights = asked.flatMap(({ finalized }) => finalized ?? [])
  if (heights.length < 2)
    return failure(
      "nodes",
      `Fewer than two nodes of ${name} name a final block. Set ${nodes.setting} to two or more.`
    )
  const height = heights.reduce((lowest, one) => BigIntOrder.min(lowest, one))
  const hashes = yield* Effect.forEach(asked, ({ node }) =>
    Effect.option(node.call("eth_getBlockByNumber", [hex(height), false], BlockHeader))
  )
  const known = hashes.flatMap((one) => (one._tag === "Some" && one.value !== null ? [one.value.hash] : []))
  if (known.length < 2)
    return failure("nodes", `Fewer than two nodes of ${name} show block ${height}. Take other nodes.`)
  return new Set(known).size === 1
    ? ok("nodes", `${known.length} of ${asked.length} nodes of ${name} show the same block ${height}`)
    : failure(
        "nodes",
        `The nodes of ${name} show different blocks ${height}. Take out the one that is wrong.`
      )
})

/** Undefined where the node does not say. */
const isBlacklisted = ({ call }: OneNode, { usdc }: Network, address: Address) =>
  call(
    "eth_call",
    [{ to: usdc.address, data: encodeFunctionData({ abi: blacklist, args: [address] }) }, "latest"],
    Word
  ).pipe(
    Effect.map((answer) => BigInt(answer) !== 0n),
    Effect.orElseSucceed(() => undefined)
  )

const relayerFinding = Effect.fnUntraced(function* (network: Network, node: OneNode, address: Address) {
  const { name, wallets } = network
  const found = yield* isBlacklisted(node, network, address)
  if (found === undefined)
    return warning("relayer", `Whether ${address} is on USDC's blacklist is not known.`)
  return found
    ? failure("relayer", `${address} is on USDC's blacklist on ${name}. Set another ${wallets.setting}.`)
    : ok("relayer", `${address} is not on USDC's blacklist on ${name}`)
})

const receiverFindings = Effect.fnUntraced(function* (
  network: Network,
  node: OneNode,
  receivers: ReadonlyArray<Address>
) {
  if (receivers.length === 0) return []
  const { name } = network
  const asked = yield* Effect.forEach(
    receivers,
    (address) => Effect.map(isBlacklisted(node, network, address), (found) => ({ address, found })),
    { concurrency: 8 }
  )
  const listed = asked.filter(({ found }) => found === true)
  const unknown = asked.filter(({ found }) => found === undefined).length
  return [
    ...listed.map(({ address }) =>
      failure(
        "receivers",
        `${address} is on USDC's blacklist on ${name}: transfers to it revert. Its merchant has to set another.`
      )
    ),
    ...(unknown > 0
      ? [
          warning(
            "receivers",
            `Whether receiving addresses on ${name} are on USDC's blacklist is not known: ${unknown} of ${asked.length}`
          )
        ]
      : listed.length > 0
        ? []
        : [ok("receivers", `No receiving address on ${name} is on USDC's blacklist: ${asked.length} asked`)])
  ]
})

/** `relayer` is none where nothing is relayed on the network. */
export const liveFindings = Effect.fnUntraced(function* <R>(
  env: Env,
  urls: ReadonlyArray<string>,
  relayer: Address | undefined,
  receivers: Effect.Effect<ReadonlyArray<Address>, never, R>
) {
  const network = networks[env]
  const asked = yield* Effect.forEach(urls, (url) => ofNode(network, url), { concurrency: "unbounded" })
  const [first] = asked
  return [
    ...asked.flatMap(({ findings }) => findings),
    yield* agreement(network, asked),
    relayer === undefined || first === undefined
      ? warning(
          "relayer",
          `${network.wallets.setting} is not set: on ${network.name} buyers pay their own fees, and agents cannot pay.`
        )
      : yield* relayerFinding(network, first.node, relayer),
    ...(first === undefined ? [] : yield* receiverFindings(network, first.node, yield* receivers))
  ]
})
