// One of the service's wallets on one network: what it holds, what it signs, and how its transactions reach the nodes.
// Its callers manage nonces and the outbox.
import { Effect, Result, Schema } from "effect"
import {
  encodeFunctionData,
  erc20Abi,
  type Hex,
  isHex,
  parseTransaction,
  size,
  type TransactionSerializableEIP1559
} from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address, type TransactionHash } from "../../domain/Chain.ts"
import type { Network } from "../../domain/networks.ts"
import type { NodeFailure } from "../RpcPool/NodeFailure.ts"
import type { RpcNode } from "../RpcPool/RpcNode.ts"
import type { RpcPool } from "../RpcPool.ts"
import { Quantity, Receipt, Word } from "../RpcSchemas.ts"
import { makeCosts, maxWeiOf } from "./HotWallet/costs.ts"

/** A transaction before fees and signature. */
export interface Unsigned {
  readonly nonce: number
  readonly to: Address
  /** Wei. */
  readonly value?: bigint
  readonly data?: Hex
  readonly gas: bigint
}

/** Wei per unit of gas. */
export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

export interface WalletState {
  readonly nonce: number
  /** The price of gas in the next block, in wei. */
  readonly price: bigint
  /** The price doubled, so that a rising base fee does not strand the transaction. */
  readonly fees: Fees
  readonly usdcAtomic: bigint
  readonly wei: bigint
}

/**
 * The outcome of a broadcast. `taken`: another transaction used the nonce. `no_funds`: all nodes refuse it for lack of
 * funds, and the balance is below its cost. `unknown`: no node has accepted it yet; it may still be in progress.
 */
export type BroadcastOutcome = "accepted" | "no_funds" | "taken" | "unknown"

/** A nonce's state. `lost`: a block has passed it, and none of our versions is in a block. */
export type NonceState =
  | { readonly outcome: "open" }
  | { readonly outcome: "lost" }
  | {
      readonly outcome: "moved" | "reverted"
      /** The version in the block. */
      readonly transactionId: TransactionHash
      readonly blockNumber: bigint
    }

/** A node that already has the transaction has accepted it, for example after a lost response. */
const broadcastOf: { readonly [K in NodeFailure["kind"]]: BroadcastOutcome } = {
  known: "accepted",
  nonce_used: "taken",
  no_funds: "no_funds",
  transport: "unknown",
  malformed: "unknown",
  wrong_chain: "unknown",
  declined: "unknown",
  invalid: "unknown",
  reverted: "unknown",
  too_wide: "unknown",
  pruned: "unknown"
}
/** True if the signed form is never accepted: the next offer needs another price, or an operator must act. */
const isNeverAccepted = ({ kind }: NodeFailure) => kind === "invalid" || kind === "reverted"
/** A transaction by its hash. Only its existence counts. */
const TransactionByHash = Schema.NullOr(Schema.Struct({ hash: Word }))

const hasMoved = ({ outcome }: NonceState) => outcome === "moved"

/**
 * Combines the nodes' sightings. If any node shows that money moved, a majority verifies it afterwards. A majority
 * must show that nothing moved.
 */
const combinedState = (states: ReadonlyArray<NonceState>, nodes: number): NonceState => {
  const moved = states.find(hasMoved)
  if (moved !== undefined) return moved
  const [reverted, lost] = [
    states.filter(({ outcome }) => outcome === "reverted"),
    states.filter(({ outcome }) => outcome === "lost")
  ]
  const [first] = reverted
  if (first !== undefined && reverted.length * 2 > nodes) return first
  return { outcome: lost.length * 2 > nodes ? "lost" : "open" }
}

/** `privateKey` is called when the wallet is first used. */
export const makeHotWallet = (network: Network, privateKey: () => Hex, pool: RpcPool["Service"]) => {
  const { chainId, env, postingGas, usdc } = network
  let cached: PrivateKeyAccount | undefined
  const account = () => {
    cached ??= privateKeyToAccount(privateKey())
    return cached
  }
  const addressOf = () => Address.make(account().address)

  /**
   * Reads each figure separately and takes the value that a majority of the nodes reports, so that no single node
   * decides.
   */
  const majorityFigure = (ask: (node: RpcNode) => Effect.Effect<bigint, NodeFailure>) =>
    pool.majorityHighest(env, ask, (answer) => answer)
  const balance = majorityFigure((node) => node.call("eth_getBalance", [addressOf(), "latest"], Quantity))
  const state = Effect.map(
    Effect.all(
      {
        nonce: majorityFigure((node) =>
          node.call("eth_getTransactionCount", [addressOf(), "pending"], Quantity)
        ),
        price: majorityFigure((node) => node.call("eth_gasPrice", [], Quantity)),
        usdcAtomic: majorityFigure((node) =>
          node
            .call(
              "eth_call",
              [
                {
                  to: usdc.address,
                  data: encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [addressOf()] })
                },
                "latest"
              ],
              Word
            )
            .pipe(Effect.map(BigInt))
        ),
        wei: balance
      },
      { concurrency: "unbounded" }
    ),
    ({ nonce, price, usdcAtomic, wei }): WalletState => ({
      nonce: Number(nonce),
      price,
      fees: {
        maxFeePerGas: price * 2n + 1n,
        maxPriorityFeePerGas: price < 1_000_000_000n ? price : 1_000_000_000n
      },
      usdcAtomic,
      wei
    })
  )

  const sign = (transaction: TransactionSerializableEIP1559) =>
    Effect.promise(() => account().signTransaction({ ...transaction, type: "eip1559", chainId }))

  /**
   * The node's answer to a transaction, and an alert that quotes the node. The caller raises it if the node had no reason
   * to refuse.
   */
  const send = (
    node: RpcNode,
    raw: Hex
  ): Effect.Effect<{ readonly answer: BroadcastOutcome; readonly alert: Effect.Effect<void> }> =>
    node.call("eth_sendRawTransaction", [raw], Word).pipe(
      Effect.matchEffect({
        onSuccess: () => Effect.succeed({ answer: "accepted", alert: Effect.void }),
        onFailure: (cause) => {
          const alert = pool.alert(
            "refusing",
            env,
            node.host,
            `${cause.message}: ${cause.nodeMessage ?? "no reason given"}`
          )
          return Effect.as(isNeverAccepted(cause) ? alert : pool.alertFailure(env, node, cause), {
            answer: broadcastOf[cause.kind],
            alert
          })
        }
      })
    )

  const costs = makeCosts(network, pool)
  /**
   * True if the balance is below the transaction's cost. Nodes also refuse a transaction that the balance covers if
   * earlier pending transactions need that balance; that is not a shortage.
   */
  const isShortOfFunds = Effect.fnUntraced(function* (raw: Hex) {
    const { data, value = 0n } = parseTransaction(raw)
    const l1Fee = yield* costs.l1Fee(data === undefined ? 0 : size(data))
    return (yield* balance) < value + maxWeiOf(raw) + l1Fee
  })

  const onAll = <A, E>(ask: (node: RpcNode) => Effect.Effect<A, E>) =>
    Effect.forEach(pool.nodes(env), (node) => Effect.result(ask(node)), { concurrency: "unbounded" })

  /** True if any node knows one of these, mined or pending. */
  const knows = (ids: ReadonlyArray<TransactionHash>) =>
    Effect.map(
      onAll((node) =>
        Effect.forEach(ids, (id) => node.call("eth_getTransactionByHash", [id], TransactionByHash))
      ),
      (answers): BroadcastOutcome =>
        answers.some(
          (answer) => Result.isSuccess(answer) && answer.success.some((transaction) => transaction !== null)
        )
          ? "accepted"
          : answers.some(Result.isFailure)
            ? "unknown"
            : "taken"
    )

  const minedNonceOf = (node: RpcNode) =>
    Effect.map(node.call("eth_getTransactionCount", [addressOf(), "latest"], Quantity), Number)

  const check = Effect.fnUntraced(function* (
    node: RpcNode,
    nonce: number,
    ids: ReadonlyArray<TransactionHash>
  ) {
    const receipt = Effect.gen(function* () {
      for (const transactionId of ids) {
        const receipt = yield* node.call("eth_getTransactionReceipt", [transactionId], Receipt)
        if (receipt === null) continue
        const outcome = receipt.status === "0x1" ? "moved" : "reverted"
        return { outcome, transactionId, blockNumber: receipt.blockNumber } satisfies NonceState
      }
      return undefined
    })
    const early: NonceState | undefined = yield* receipt
    if (early !== undefined) return early
    if ((yield* minedNonceOf(node)) <= nonce) return { outcome: "open" } satisfies NonceState
    // It may have been mined between the two requests.
    const late: NonceState | undefined = yield* receipt
    return late ?? ({ outcome: "lost" } satisfies NonceState)
  })

  return {
    get address() {
      return addressOf()
    },
    state,
    ...costs,
    sign: (fees: Fees, transaction: Unsigned) => sign({ ...transaction, chainId, ...fees }),
    /** Fills a nonce with an empty transfer to itself. */
    signFiller: (fees: Fees, nonce: number) =>
      sign({ nonce, to: addressOf(), value: 0n, gas: 21_000n + postingGas, chainId, ...fees }),
    isFiller: (raw: Hex) => {
      const { to, value = 0n, data } = parseTransaction(raw)
      return to?.toLowerCase() === addressOf().toLowerCase() && value === 0n && data === undefined
    },
    /** The same transaction with other fees. */
    signWithFees: (fees: Fees, raw: Hex) => {
      const old = parseTransaction(raw)
      return sign({
        ...(old.nonce === undefined ? {} : { nonce: old.nonce }),
        ...(old.to === undefined || old.to === null ? {} : { to: old.to }),
        ...(old.value === undefined ? {} : { value: old.value }),
        ...(old.data === undefined || !isHex(old.data) ? {} : { data: old.data }),
        ...(old.gas === undefined ? {} : { gas: old.gas }),
        chainId,
        ...fees
      })
    },
    /** `accepted` if any node knows one of these; `taken` if all nodes report that they know none. */
    knows,
    /** The number of the newest block that a majority has. */
    head: Effect.map(pool.head(env), ({ number }) => number),
    /**
     * Sends to all nodes. If they report the nonce as used, this counts as accepted only if they know one of its
     * versions.
     */
    broadcast: (raw: Hex, versions: ReadonlyArray<TransactionHash>): Effect.Effect<BroadcastOutcome> =>
      Effect.flatMap(
        Effect.forEach(pool.nodes(env), (node) => send(node, raw), { concurrency: "unbounded" }),
        (broadcasts) => {
          const all = broadcasts.map(({ answer }) => answer)
          if (all.includes("accepted")) return Effect.succeed("accepted")
          if (all.length === 0 || all.includes("unknown")) return Effect.succeed("unknown")
          if (all.includes("taken")) return knows(versions)
          return isShortOfFunds(raw).pipe(
            Effect.tap((isShort) =>
              isShort ? Effect.void : Effect.forEach(broadcasts, ({ alert }) => alert)
            ),
            Effect.map((isShort): BroadcastOutcome => (isShort ? "no_funds" : "unknown")),
            Effect.orElseSucceed((): BroadcastOutcome => "unknown")
          )
        }
      ),
    /** A nonce's state: a receipt of success from any node is believed; otherwise the majority decides. */
    nonceState: (nonce: number, versions: ReadonlyArray<TransactionHash>) =>
      Effect.map(
        pool.gather(env, (node) => check(node, nonce, versions), hasMoved),
        (states) => combinedState(states, pool.nodes(env).length)
      ),
    /** The same, asking all nodes. Succeeds even without a majority; fewer nodes can only prove that money moved. */
    nonceStateOnAll: (nonce: number, versions: ReadonlyArray<TransactionHash>) =>
      Effect.map(
        onAll((node) => check(node, nonce, versions)),
        (answers) =>
          combinedState(
            answers.filter(Result.isSuccess).map(({ success }) => success),
            answers.length
          )
      ),
    /** The next nonce as of a block that a majority has. */
    nextMinedNonce: pool.majorityHighest(env, minedNonceOf, BigInt),
    /**
     * The highest next nonce, for use after nodes have lagged. With three or more nodes, the highest that two have
     * reached: behind a nonce that a single node invents, nothing would ever be mined.
     */
    highestNextNonce: Effect.map(
      onAll((node) =>
        Effect.all([
          node.call("eth_getTransactionCount", [addressOf(), "pending"], Quantity),
          node.call("eth_getTransactionCount", [addressOf(), "latest"], Quantity)
        ])
      ),
      (answers) =>
        answers
          .filter(Result.isSuccess)
          .map(({ success }) => Math.max(...success.map(Number)))
          .toSorted((one, other) => other - one)[answers.length > 2 ? 1 : 0] ?? 0
    )
  }
}

export type HotWallet = ReturnType<typeof makeHotWallet>
