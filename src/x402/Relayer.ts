// The wallets that submit signed authorizations to the chain and pay their gas, within the budgets of
// merchants and payers. There is one wallet on each open or closing network.
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { size, toHex } from "viem"
import { RpcPool } from "../chain/RpcPool.ts"
import { RpcUnavailable } from "../chain/Verification.ts"
import { DerivedWallets } from "../chain/wallets/DerivedWallets.ts"
import { makeHotWallet, type WalletState } from "../chain/wallets/HotWallet.ts"
import { makeEmptyAlert } from "../chain/wallets/makeEmptyAlert.ts"
import { defaultOutboxTiming, makeOutbox, type TransactionState } from "../chain/wallets/Outbox.ts"
import { idsOf, OutboxRepo, type OutgoingTransaction } from "../chain/wallets/OutboxRepo.ts"
import type { Address, Env } from "../domain/Chain.ts"
import { MerchantId } from "../domain/Merchant.ts"
import { byEnv, networks } from "../domain/networks.ts"
import type { SettleReason } from "../domain/SettleReason.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { Alerts } from "../platform/alerts/Alerts.ts"
import { Networks } from "../platform/Networks.ts"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import type { Call } from "./Authorization.ts"
import { RelayerRepo, type RelayLimit } from "./Relayer/RelayerRepo.ts"
import { makeStopAlerts, stoppedKind, typicalBytes, typicalWei } from "./Relayer/stop.ts"

export interface Relay {
  readonly purpose: "settle" | "cancel"
  /** The id of a settlement or of an agent's payment. */
  readonly reference: string
  readonly merchantId: MerchantId
  /** The payer who signed the authorization. */
  readonly payer: Address
  readonly call: Call
  readonly gas: bigint
}

/**
 * `Sent`: a node has the transaction, or may have it. `Refused`: the wallet cannot pay for it. `Closed`: its
 * settlement has ended. After the last two, no transaction is in flight unless an earlier one is.
 */
export type Relayed =
  | { readonly _tag: "Sent"; readonly transaction: OutgoingTransaction }
  /** `transaction`: the signed one that no node accepted; its nonce is filled. */
  | { readonly _tag: "Refused"; readonly transaction?: OutgoingTransaction }
  | { readonly _tag: "Closed" }
  | { readonly _tag: "OverBudget"; readonly limit: RelayLimit | "price" }

/** The reason why nothing of a payer would be relayed now: a budget, the gas price, or the wallet itself. */
export type RelayObstacle = RelayLimit | "price" | "not_configured" | "empty"

export const budgetReasons: { readonly [L in RelayLimit | "price"]: SettleReason } = {
  merchant: "relay_merchant_budget_exceeded",
  payer: "relay_payer_budget_exceeded",
  total: "relay_total_budget_exceeded",
  price: "relay_price_too_high",
  reverts: "relay_payer_reverts",
  reserve: "relay_reserve_reached"
}

/** The reasons for relaying nothing, as callers get them. */
export const obstacleReasons: { readonly [O in RelayObstacle]: SettleReason } = {
  ...budgetReasons,
  not_configured: "relay_not_configured",
  empty: "relay_wallet_empty"
}

/** Stands for a merchant without transactions. */
const unknownMerchantId = MerchantId.make("00000000-0000-0000-0000-000000000000")

/** The relayer's wallet of one network. */
export interface NetworkRelayer {
  /** Undefined while no mnemonic is configured. */
  readonly address: Address | undefined
  /** The wallet's balance and gas offer. */
  readonly state: Effect.Effect<WalletState, RpcUnavailable>
  /** The reason why a usual payment of the payer would not be relayed now. Nothing is reserved for it. */
  readonly obstacle: (
    merchantId: MerchantId,
    payer: Address
  ) => Effect.Effect<RelayObstacle | undefined, RpcUnavailable>
  /** Stores and broadcasts a transaction, unless the reference has an open transaction. */
  readonly send: (relay: Relay, state: WalletState) => Effect.Effect<Relayed, RpcUnavailable>
  /** Rechecks the reference's newest transaction, which was wrongly recorded as successful. */
  readonly reconsider: (reference: string, purpose: Relay["purpose"]) => Effect.Effect<void>
  /** The state of the reference's newest transaction; recorded once a block has passed it. */
  readonly check: (
    reference: string,
    purpose: Relay["purpose"]
  ) => Effect.Effect<
    { readonly transaction: OutgoingTransaction; readonly state: TransactionState } | undefined,
    RpcUnavailable
  >
}

const disabledRelayer: NetworkRelayer = {
  address: undefined,
  state: Effect.fail(
    new RpcUnavailable({ reason: "unconfigured", message: "no relayer's wallet is configured" })
  ),
  obstacle: () => Effect.succeed("not_configured"),
  send: () => Effect.succeed({ _tag: "Refused" }),
  reconsider: () => Effect.void,
  check: () => Effect.succeed(undefined)
}

const makeOn = Effect.fnUntraced(function* (env: Env) {
  const network = networks[env]
  const { relaying } = yield* AppConfig
  const wallets = yield* DerivedWallets
  const pool = yield* RpcPool
  const repo = yield* RelayerRepo
  const stored = yield* OutboxRepo
  const alerts = yield* Alerts
  const key = wallets.relayerKey(env)
  if (Option.isNone(key)) return disabledRelayer
  const wallet = makeHotWallet(network, () => toHex(key.value()), pool)

  const emptyAlert = makeEmptyAlert(alerts, "relayer_empty", network.env, wallet)
  const alertEmpty = Effect.suspend(() =>
    emptyAlert.raise(
      `The relayer's wallet ${wallet.address} is out of ETH for gas; payments by signature are not sent until it is funded. Send it ETH on ${network.name}.`
    )
  )
  const outbox = makeOutbox({
    wallet,
    repo: stored,
    timing: defaultOutboxTiming,
    onEmpty: alertEmpty,
    onLost: Effect.logWarning(
      `Something else sends transactions from the relayer's wallet ${wallet.address}. Set a different ${network.wallets.setting} for each deployment.`
    ),
    end: stored.end,
    isWanted: (transaction) =>
      transaction.purpose === "settle"
        ? repo.isWanted(transaction.reference, idsOf(transaction))
        : Effect.succeed(true)
  })

  const check: NetworkRelayer["check"] = Effect.fn("Relayer.check")(function* (reference, purpose) {
    const transaction = yield* stored.latest(wallet.address, reference, purpose)
    return transaction === undefined ? undefined : { transaction, state: yield* outbox.check(transaction) }
  })

  const reconsider: NetworkRelayer["reconsider"] = Effect.fn("Relayer.reconsider")(
    function* (reference, purpose) {
      const transaction = yield* stored.latest(wallet.address, reference, purpose)
      if (transaction?.outcome === "moved") yield* outbox.reopen(transaction)
    }
  )

  const bounds = relaying.wei[env]
  const stopAlerts = makeStopAlerts(network, bounds, alerts, wallet)
  const refused: Relayed = { _tag: "Refused" }

  const send: NetworkRelayer["send"] = Effect.fn("Relayer.send")(function* (relay, state) {
    const { call, gas } = relay
    const { maxFeePerGas } = state.fees
    const l1Fee = yield* wallet.l1Fee(size(call.data))
    if (yield* stopAlerts.checkPrice(state, l1Fee)) return { _tag: "OverBudget", limit: "price" }
    const cost = gas * maxFeePerGas + l1Fee
    if (state.wei < cost || !(yield* outbox.unblock())) {
      yield* alertEmpty
      return refused
    }
    const reservation = yield* repo.take(wallet.address, {
      purpose: relay.purpose,
      reference: relay.reference,
      merchantId: relay.merchantId,
      payer: relay.payer,
      gas,
      wei: cost,
      maxFeePerGas,
      at: yield* DateTime.nowAsDate,
      chainNonce: state.nonce,
      bounds,
      onlyReserve: state.wei - cost < relaying.reserveWei,
      sign: (nonce) => wallet.sign(state.fees, { nonce, to: call.to, data: call.data, gas })
    })
    switch (reservation._tag) {
      case "Known":
        return { _tag: "Sent", transaction: reservation.transaction }
      case "Blocked":
        return refused
      case "Created": {
        const offered = yield* outbox.offer(reservation.transaction)
        if (offered === "sent") yield* emptyAlert.paid
        if (offered !== "no_funds") return { _tag: "Sent", transaction: reservation.transaction }
        yield* outbox.fill(reservation.transaction)
        yield* alertEmpty
        return { ...refused, transaction: reservation.transaction }
      }
      case "OverBudget":
        if (reservation.limit === "total") yield* stopAlerts.alertBudgetUsed
        return reservation
      default:
        return reservation
    }
  })

  // Called for every buyer who looks at a checkout, so it is cached.
  const cachedState = yield* Effect.cachedWithTTL(
    Effect.all({ state: wallet.state, l1Fee: wallet.l1Fee(typicalBytes) }, { concurrency: "unbounded" }),
    "2 seconds"
  )
  const obstacle: NetworkRelayer["obstacle"] = Effect.fn("Relayer.obstacle")(function* (merchantId, payer) {
    const { l1Fee, state } = yield* cachedState
    if (yield* stopAlerts.checkPrice(state, l1Fee)) return "price"
    const { maxFeePerGas } = state.fees
    const wei = typicalWei(network, maxFeePerGas, l1Fee)
    if (state.wei < wei) return "empty"
    const limit = yield* repo.limitOf(wallet.address, {
      merchantId,
      payer,
      wei,
      maxFeePerGas,
      at: yield* DateTime.nowAsDate,
      bounds,
      onlyReserve: state.wei - wei < relaying.reserveWei
    })
    if (limit === "total") yield* stopAlerts.alertBudgetUsed
    return limit
  })

  // Any instance may find that relaying has resumed, even if no buyer comes.
  const resolveStoppedAlert = Effect.gen(function* () {
    if (!(yield* repo.isStopped(wallet.address))) return
    const reason = yield* obstacle(unknownMerchantId, wallet.address)
    if (reason !== "price" && reason !== "total") yield* alerts.resolve(stoppedKind, wallet.address)
  })
  yield* startPeriodic(
    "Checking whether relaying has resumed",
    Effect.sleep("30 seconds"),
    resolveStoppedAlert,
    "Warn"
  )

  yield* outbox.worker

  const relayer: NetworkRelayer = {
    get address() {
      return wallet.address
    },
    state: wallet.state,
    obstacle,
    send,
    check,
    reconsider
  }
  return relayer
})

const make = Effect.gen(function* () {
  const { executes } = yield* Networks
  const relayers = yield* Effect.all(
    byEnv((env) => (executes(env) ? makeOn(env) : Effect.succeed(disabledRelayer)))
  )
  return Relayer.of({ on: (env) => relayers[env] })
})

export class Relayer extends Context.Service<
  Relayer,
  {
    /** The network's wallet; off while the network is closed or has no mnemonic. */
    readonly on: (env: Env) => NetworkRelayer
  }
>()("quittance/x402/Relayer") {
  static readonly layer: Layer.Layer<Relayer, never, AppConfig | RpcPool | SqlClient.SqlClient | Alerts> =
    Layer.effect(Relayer, make).pipe(
      Layer.provide([DerivedWallets.layer, RelayerRepo.layer]),
      Layer.provide(OutboxRepo.layer)
    )
}
