// The start-up check: each node must serve the right chain, and the contract at the pinned address must be the
// expected USDC.
import { Effect, Schema } from "effect"
import type { Env } from "../../domain/Chain.ts"
import { hasTags, type Network, networks } from "../../domain/networks.ts"
import { domainSeparator, domainSeparatorCall } from "../domainSeparator.ts"
import type { NodeFailure } from "../RpcPool/NodeFailure.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import { Bytes, Head } from "../RpcSchemas.ts"
import type { NetworkCheck, NodeStatus } from "../Verification.ts"

/** An error about the block, in any client's wording: the calls before it succeeded. */
const isAboutBlock = ({ isRpcError, kind, nodeMessage = "" }: NodeFailure) =>
  kind === "declined" && isRpcError === true && /block|header|tag/i.test(nodeMessage)

const knowsTags = (node: RpcNode) =>
  Effect.forEach(["safe", "finalized"], (tag) =>
    node.callUnchecked("eth_getBlockByNumber", [tag, false], Schema.NullOr(Head)).pipe(
      Effect.map((block) => block !== null),
      Effect.catchIf(isAboutBlock, () => Effect.succeed(false))
    )
  ).pipe(Effect.map((results) => results.every(Boolean)))

const judgeNode = (network: Network, node: RpcNode): Effect.Effect<NodeStatus> =>
  Effect.gen(function* (): Effect.fn.Return<NodeStatus, NodeFailure> {
    const { address } = network.usdc
    yield* node.checkChain
    const code = yield* node.callUnchecked("eth_getCode", [address, "latest"], Bytes)
    if (code === "0x") return "no_token"
    const separator = yield* node
      .callUnchecked("eth_call", [{ to: address, data: domainSeparatorCall }, "latest"], Bytes)
      .pipe(
        Effect.catchIf(
          (cause: NodeFailure) => cause.kind === "reverted",
          () => Effect.succeed("0x" as const)
        )
      )
    if (separator !== domainSeparator(network)) return "wrong_domain"
    return !hasTags(network) || (yield* knowsTags(node)) ? "ok" : "no_tags"
  }).pipe(
    Effect.catch(({ kind }) =>
      Effect.succeed<NodeStatus>(kind === "wrong_chain" ? "wrong_chain" : "unavailable")
    )
  )

const messages: { readonly [V in NodeStatus]: (network: Network, hosts: string) => string } = {
  ok: ({ name }) => `${name} is reachable and its USDC contract is the expected one`,
  unconfigured: ({ name }) => `no RPC node is configured for ${name}`,
  wrong_chain: ({ chainId, name }, hosts) => `${hosts} does not serve ${name} (chain id ${chainId})`,
  no_token: ({ name, usdc }, hosts) =>
    `${hosts} shows no contract at ${usdc.address}, where ${name} has USDC`,
  wrong_domain: ({ name, usdc }, hosts) =>
    `the contract at ${usdc.address} on ${hosts} is not the USDC of ${name}`,
  no_tags: ({ name }, hosts) => `${hosts} names no \`safe\` and \`finalized\` block of ${name}`,
  unavailable: ({ name }, hosts) => `too few RPC nodes of ${name} answer: ${hosts}`
}

/** A node that is certainly wrong decides; otherwise a majority must be right. Never fails. */
export const checkNodes = Effect.fnUntraced(function* (env: Env, nodes: ReadonlyArray<RpcNode>) {
  const network = networks[env]
  const statuses = yield* Effect.forEach(
    nodes,
    (node) => Effect.map(judgeNode(network, node), (status) => ({ host: node.host, status })),
    { concurrency: "unbounded" }
  )
  const healthyCount = statuses.filter((node) => node.status === "ok").length
  const misconfigured = statuses.find((node) => node.status !== "ok" && node.status !== "unavailable")
  const status: NodeStatus =
    nodes.length === 0
      ? "unconfigured"
      : (misconfigured?.status ?? (healthyCount > nodes.length / 2 ? "ok" : "unavailable"))
  const hosts = statuses.flatMap((node) => (node.status === status ? [node.host] : [])).join(", ")
  const check: NetworkCheck = { env, status, message: messages[status](network, hosts), nodes: statuses }
  return check
})
