// Further checks of an open network: its nodes' tags, agreement and logs, and whether USDC has blacklisted
// the relayer's wallet or receiving addresses.
import { BigInt as BigIntOrder, Effect, Schema } from "effect"
import { encodeFunctionData, padHex, parseAbi } from "viem"
import { makeSingleNode, type SingleNode } from "../../../chain/makeSingleNode.ts"
import { BlockHeader, Head, Word } from "../../../chain/RpcSchemas.ts"
import type { Address, Env } from "../../../domain/Chain.ts"
import { type Network, networks } from "../../../domain/networks.ts"
import { pluralised } from "../../../domain/pluralised.ts"
import { type Finding, failure, ok, warning } from "./Finding.ts"
import { nodeRate } from "./nodeRate.ts"

const blacklist = parseAbi(["function isBlacklisted(address) view returns (bool)"])
/** Block ranges to request logs for, the widest first. */
const widths = [10_000n, 1_000n, 100n, 10n] as const

const hex = (height: bigint) => `0x${height.toString(16)}`

const tagged = ({ call }: SingleNode, tag: "safe" | "finalized") =>
  Effect.option(call("eth_getBlockByNumber", [tag, false], Head))

/** The widest range of logs that the node returns. */
const widestOf = Effect.fnUntraced(function* ({ call }: SingleNode, { usdc }: Network, head: bigint) {
  for (const width of widths) {
    const range = { fromBlock: hex(head > width ? head - width + 1n : 0n), toBlock: hex(head) }
    // The token itself sends few transfers: only whether the range is allowed counts.
    const topics = [null, padHex(usdc.address, { size: 32 })]
    const request = call(
      "eth_getLogs",
      [{ address: usdc.address, topics, ...range }],
      Schema.Array(Schema.Unknown)
    )
    if (yield* Effect.isSuccess(request)) return width
  }
  return undefined
})

const ofNode = Effect.fnUntraced(function* (network: Network, url: string) {
  const about = `node ${URL.parse(url)?.host ?? "?"}`
  const node = makeSingleNode(network.env, url)
  const head = yield* Effect.option(node.call("eth_getBlockByNumber", ["latest", false], Head))
  // Another finding reports that the node does not respond.
  if (head._tag === "None") return { findings: [], finalized: undefined, node }
  const [safe, finalized] = yield* Effect.all([tagged(node, "safe"), tagged(node, "finalized")])
  const width = yield* widestOf(node, network, head.value.number)
  const findings: ReadonlyArray<Finding> = [
    yield* nodeRate(about, node),
    safe._tag === "None" || finalized._tag === "None"
      ? failure(about, `It does not report safe and finalized blocks of ${network.name}. Use another node.`)
      : ok(
          about,
          `Safe ${head.value.timestamp - safe.value.timestamp} s and finalized ${head.value.timestamp - finalized.value.timestamp} s behind its newest block`
        ),
    width === undefined
      ? failure(about, "It returns no logs. Check its plan, or use another node.")
      : width < 1_000n
        ? warning(
            about,
            `It returns the logs of at most ${width} blocks per request, so catching up after an outage takes long.`
          )
        : ok(about, `It returns the logs of ${width} blocks per request`)
  ]
  return { findings, finalized: finalized._tag === "Some" ? finalized.value.number : undefined, node }
})

/** Checks whether all nodes show the same block at their lowest final height. */
const agreement = Effect.fnUntraced(function* (
  { name, nodes }: Network,
  readings: ReadonlyArray<{ readonly finalized: bigint | undefined; readonly node: SingleNode }>
) {
  const heights = readings.flatMap(({ finalized }) => finalized ?? [])
  if (heights.length < 2)
    return failure(
      "nodes",
      `Fewer than two nodes of ${name} report a finalized block. Set ${nodes.setting} to two or more.`
    )
  const height = heights.reduce((lowest, next) => BigIntOrder.min(lowest, next))
  const hashes = yield* Effect.forEach(readings, ({ node }) =>
    Effect.option(node.call("eth_getBlockByNumber", [hex(height), false], BlockHeader))
  )
  const blockHashes = hashes.flatMap((block) =>
    block._tag === "Some" && block.value !== null ? [block.value.hash] : []
  )
  if (blockHashes.length < 2)
    return failure("nodes", `Fewer than two nodes of ${name} show block ${height}. Use other nodes.`)
  return new Set(blockHashes).size === 1
    ? ok(
        "nodes",
        `${blockHashes.length} of ${readings.length} nodes of ${name} show the same block ${height}`
      )
    : failure(
        "nodes",
        `The nodes of ${name} show different blocks at height ${height}. Remove the wrong node.`
      )
})

/** Undefined if the node does not respond. */
const isBlacklisted = ({ call }: SingleNode, { usdc }: Network, address: Address) =>
  call(
    "eth_call",
    [{ to: usdc.address, data: encodeFunctionData({ abi: blacklist, args: [address] }) }, "latest"],
    Word
  ).pipe(
    Effect.map((answer) => BigInt(answer) !== 0n),
    Effect.orElseSucceed(() => undefined)
  )

const relayerFinding = Effect.fnUntraced(function* (network: Network, node: SingleNode, address: Address) {
  const { name, wallets } = network
  const blacklisted = yield* isBlacklisted(node, network, address)
  if (blacklisted === undefined)
    return warning("relayer", `Could not determine whether ${address} is on USDC's blacklist.`)
  return blacklisted
    ? failure("relayer", `${address} is on USDC's blacklist on ${name}. Set another ${wallets.setting}.`)
    : ok("relayer", `${address} is not on USDC's blacklist on ${name}`)
})

const receiverFindings = Effect.fnUntraced(function* (
  network: Network,
  node: SingleNode,
  receivers: ReadonlyArray<Address>
) {
  if (receivers.length === 0) return []
  const { name } = network
  const checked = yield* Effect.forEach(
    receivers,
    (address) =>
      Effect.map(isBlacklisted(node, network, address), (blacklisted) => ({ address, blacklisted })),
    { concurrency: 8 }
  )
  const blacklistedReceivers = checked.filter(({ blacklisted }) => blacklisted === true)
  const unknown = checked.filter(({ blacklisted }) => blacklisted === undefined).length
  return [
    ...blacklistedReceivers.map(({ address }) =>
      failure(
        "receivers",
        `${address} is on USDC's blacklist on ${name}: transfers to it revert. Its merchant must set another receiving address.`
      )
    ),
    ...(unknown > 0
      ? [
          warning(
            "receivers",
            `Could not determine whether ${unknown} of ${pluralised(checked.length, "receiving address", "receiving addresses")} on ${name} are on USDC's blacklist.`
          )
        ]
      : blacklistedReceivers.length > 0
        ? []
        : [
            ok(
              "receivers",
              `${pluralised(checked.length, "receiving address", "receiving addresses")} on ${name} checked; none is on USDC's blacklist`
            )
          ])
  ]
})

/** `relayer` is undefined if nothing is relayed on the network. */
export const liveFindings = Effect.fnUntraced(function* <R>(
  env: Env,
  urls: ReadonlyArray<string>,
  relayer: Address | undefined,
  receivers: Effect.Effect<ReadonlyArray<Address>, never, R>
) {
  const network = networks[env]
  const readings = yield* Effect.forEach(urls, (url) => ofNode(network, url), { concurrency: "unbounded" })
  const [first] = readings
  return [
    ...readings.flatMap(({ findings }) => findings),
    yield* agreement(network, readings),
    relayer === undefined || first === undefined
      ? warning(
          "relayer",
          `${network.wallets.setting} is not set: on ${network.name} buyers pay their own fees, and agents cannot pay.`
        )
      : yield* relayerFinding(network, first.node, relayer),
    ...(first === undefined ? [] : yield* receiverFindings(network, first.node, yield* receivers))
  ]
})
