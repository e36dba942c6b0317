// The wallet that brings signed authorizations onto the test chain and pays their gas. One
// transaction a reference; a supervised fiber repeats what was lost and raises what is stuck.
import { Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { toHex } from "viem"
import { AgentWallets } from "../agents/AgentWallets.ts"
import { Alerts } from "../alerts/Alerts.ts"
import { makeHotWallet, type Sighting, type WalletState } from "../chain/HotWallet.ts"
import { RpcPool } from "../chain/RpcPool.ts"
import type { ChainUnavailable } from "../chain/Verification.ts"
import type { Address } from "../domain/Chain.ts"
import type { Call } from "./Authorization.ts"
import { type RelayedTransaction, RelayerRepo, type RelayPurpose } from "./RelayerRepo.ts"

export interface Relay {
  readonly purpose: RelayPurpose
  readonly reference: string
  readonly call: Call
  readonly gas: bigint
}

/** `sent`: a node has it, or may have it. `refused`: no node takes it and nothing is kept of it. */
export type Relayed =
  | { readonly _tag: "Sent"; readonly transaction: RelayedTransaction }
  | { readonly _tag: "Refused" }

interface Shape {
  /** Undefined while no mnemonic is configured. */
  readonly address: Address | undefined
  /** Stores and broadcasts, once for each reference that has nothing open. */
  readonly send: (relay: Relay) => Effect.Effect<Relayed, ChainUnavailable>
  /** Where the newest transaction of a reference stands; noted once a block has passed it. */
  readonly look: (
    reference: string
  ) => Effect.Effect<
    { readonly transaction: RelayedTransaction; readonly sighting: Sighting } | undefined,
    ChainUnavailable
  >
}

const tendEvery = "3 seconds"
const sendAgainMillis = 5_000
const stuckMillis = 60_000
/** How long a nonce must be gone without a receipt of ours until the transaction counts as lost. */
const lostAfter = Duration.seconds(2)

const off: Shape = {
  address: undefined,
  send: () => Effect.succeed({ _tag: "Refused" }),
  look: () => Effect.succeed(undefined)
}

const versionsOf = ({ transactionId, earlier }: RelayedTransaction) => [transactionId, ...earlier]

const make = Effect.gen(function* () {
  const wallets = yield* AgentWallets
  const pool = yield* RpcPool
  const repo = yield* RelayerRepo
  const alerts = yield* Alerts
  const key = wallets.relayerKey
  if (Option.isNone(key)) return off
  const wallet = makeHotWallet(toHex(key.value), pool)

  const tellEmpty = alerts.raise({
    kind: "relayer_empty",
    tenant: Option.none(),
    subject: wallet.address,
    message: `The wallet ${wallet.address}, which relays x402 payments, lacks gas. Send it ETH on Base Sepolia.`
  })

  const end = Effect.fnUntraced(function* (transaction: RelayedTransaction, sighting: Sighting) {
    if (sighting.outcome === "open") return
    const id = sighting.transactionId ?? transaction.transactionId
    yield* repo.end(wallet.address, transaction.nonce, id, sighting.outcome, yield* DateTime.nowAsDate)
  })

  /** A receipt is believed at once; a vanished nonce only when most nodes say so for a while. */
  const sight = Effect.fnUntraced(function* (transaction: RelayedTransaction) {
    const versions = versionsOf(transaction)
    const early = yield* wallet.sight(transaction.nonce, versions)
    if (early.outcome !== "lost") return early
    return yield* wallet.sightOnAll(transaction.nonce, versions).pipe(
      Effect.repeat({
        schedule: Schedule.spaced(Duration.toMillis(lostAfter) / 4),
        times: 4,
        while: ({ outcome }) => outcome === "lost"
      })
    )
  })

  const look: Shape["look"] = Effect.fn("Relayer.look")(function* (reference) {
    const transaction = yield* repo.latest(reference)
    if (transaction === undefined) return undefined
    if (transaction.outcome !== null) {
      const { outcome, transactionId } = transaction
      return { transaction, sighting: { outcome, transactionId } }
    }
    const sighting = yield* sight(transaction)
    yield* end(transaction, sighting)
    return { transaction, sighting }
  })

  const affordable = ({ wei, maxFeePerGas }: WalletState, gas: bigint) => wei >= gas * maxFeePerGas

  const send: Shape["send"] = Effect.fn("Relayer.send")(function* ({ purpose, reference, call, gas }) {
    const state = yield* wallet.state
    if (!affordable(state, gas)) {
      yield* tellEmpty
      return { _tag: "Refused" }
    }
    const { transaction, created } = yield* repo.take({
      wallet: wallet.address,
      purpose,
      reference,
      chainNonce: state.nonce,
      at: yield* DateTime.nowAsDate,
      sign: (nonce) => wallet.sign(state, { nonce, to: call.to, data: call.data, gas })
    })
    if (!created) return { _tag: "Sent", transaction }
    const verdict = yield* wallet.broadcast(transaction.raw, versionsOf(transaction))
    if (verdict === "refused" && (yield* repo.withdraw(wallet.address, transaction.nonce))) {
      yield* tellEmpty
      return { _tag: "Refused" }
    }
    return { _tag: "Sent", transaction }
  })

  const tendOne = Effect.fnUntraced(function* (transaction: RelayedTransaction, next: number) {
    if (transaction.nonce < next) return yield* end(transaction, yield* sight(transaction))
    const now = yield* DateTime.nowAsDate
    const age = now.getTime() - transaction.createdAt.getTime()
    if (age < sendAgainMillis) return
    const versions = versionsOf(transaction)
    if (transaction.nonce === next && age >= stuckMillis) {
      const raw = yield* wallet.signDearer(yield* wallet.state, transaction.raw)
      if (yield* repo.replace(wallet.address, transaction, raw, now)) yield* wallet.broadcast(raw, versions)
      return
    }
    if ((yield* wallet.broadcast(transaction.raw, versions)) === "refused") yield* tellEmpty
  })

  yield* Effect.gen(function* () {
    const open = yield* repo.open(wallet.address)
    if (open.length === 0) return
    const next = yield* wallet.minedNonce
    yield* Effect.forEach(open, (transaction) => tendOne(transaction, next), { discard: true })
  }).pipe(
    Effect.catchCause((cause) => Effect.logWarning("The relayed transactions were not tended", cause)),
    Effect.repeat(Schedule.spaced(tendEvery)),
    Effect.forkScoped
  )

  const shape: Shape = { address: wallet.address, send, look }
  return shape
})

export class Relayer extends Context.Service<Relayer, Shape>()("quittance/x402/Relayer") {
  static readonly layer: Layer.Layer<Relayer, never, AgentWallets | RpcPool | RelayerRepo | Alerts> =
    Layer.effect(Relayer, make)
}
