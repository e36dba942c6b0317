// The faucet on a real chain: reserve under the limits, broadcast, wait until it is
// mined; a supervised fiber finishes what a crash or a stuck fee left open.
import { DateTime, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { isHex } from "viem"
import { AppConfig } from "../AppConfig.ts"
import { Alerts } from "../alerts/Alerts.ts"
import type { Sighting, WalletState } from "../chain/HotWallet.ts"
import { RpcPool } from "../chain/RpcPool.ts"
import { ChainUnavailableError } from "../domain/Errors.ts"
import { Faucet, type Grant, type GrantRequest } from "./Faucet.ts"
import { makeSettleUp } from "./FaucetOutcomes.ts"
import { FaucetRepo, type OutgoingTransaction, versionsOf } from "./FaucetRepo.ts"
import { type FaucetWallet, makeFaucetWallet } from "./FaucetWallet.ts"
import { nobody } from "./limits.ts"
import { emptyWallet, limitReached, notConfigured, sharedWallet, underWay } from "./refusals.ts"

export interface FaucetTiming {
  /** Between looks at open transactions. */
  readonly tendEvery: Duration.Input
  /** Age at which an open transaction is sent again, as after a crash. */
  readonly sendAgainAfter: Duration.Input
  /** Age at which the next transaction in line counts as stuck and gets a higher fee. */
  readonly stuckAfter: Duration.Input
  /** The longest that a grant waits to be mined. */
  readonly patience: Duration.Input
  /** How long a nonce must be gone without a receipt of ours until the transaction counts as lost. */
  readonly lostAfter: Duration.Input
}

const defaultTiming: FaucetTiming = {
  tendEvery: "5 seconds",
  sendAgainAfter: "5 seconds",
  stuckAfter: "1 minute",
  patience: "20 seconds",
  lostAfter: "2 seconds"
}

const heldBy = (repo: FaucetRepo["Service"]): Faucet["Service"]["held"] =>
  Effect.fn("Faucet.held")(function* (request) {
    const held = yield* repo.held({ ...request, recipient: nobody }, yield* DateTime.nowAsDate)
    if (held !== undefined) return yield* limitReached(held)
  })

const makeOff = Effect.map(Alerts, (alerts): Faucet["Service"] => ({
  offer: { enabled: false, usdcAtomic: 0n },
  held: () => Effect.void,
  grant: Effect.fn("Faucet.grant")(function* () {
    yield* alerts.raise({
      kind: "faucet_not_configured",
      tenant: Option.none(),
      subject: "faucet",
      message:
        "A buyer asked for test funds, but the faucet is off. Set FAUCET_PRIVATE_KEY to a wallet that holds USDC and gas on Base Sepolia."
    })
    return yield* notConfigured
  })
}))

const make = Effect.fnUntraced(function* (
  privateKey: Redacted.Redacted<string>,
  { lostAfter, patience, sendAgainAfter, stuckAfter, tendEvery }: FaucetTiming
) {
  const { faucet } = yield* AppConfig
  const pool = yield* RpcPool
  const repo = yield* FaucetRepo
  const alerts = yield* Alerts
  const random = yield* SecureRandom.SecureRandom
  const key = Redacted.value(privateKey)
  if (!isHex(key)) return yield* makeOff
  const wallet: FaucetWallet = makeFaucetWallet(key, pool)
  const chainDown = () => Effect.fail(new ChainUnavailableError({ retryAfter: 5 }))

  const tellEmpty = (asset: string) =>
    alerts.raise({
      kind: "faucet_empty",
      tenant: Option.none(),
      subject: wallet.address,
      message: `The faucet's wallet ${wallet.address} lacks ${asset}. Fund it on Base Sepolia.`
    })
  const empty = (asset: string) => Effect.andThen(tellEmpty(asset), Effect.fail(emptyWallet))

  const tellShared = alerts.raise({
    kind: "faucet_wallet_shared",
    tenant: Option.none(),
    subject: wallet.address,
    message: `Something else sends transactions from the faucet's wallet ${wallet.address}, so grants lose their nonces to it. Give each deployment a FAUCET_PRIVATE_KEY of its own, and use the key nowhere else.`
  })

  const settleUp = makeSettleUp(wallet, repo, lostAfter, tellShared)

  const reserve = Effect.fnUntraced(function* (request: GrantRequest, state: WalletState) {
    const grantId = yield* random.uuidV7()
    const reserved = yield* repo.reserve({
      grantId,
      wallet: wallet.address,
      request,
      usdcAtomic: faucet.usdcAtomic,
      gasWei: faucet.gasWei,
      at: yield* DateTime.nowAsDate,
      chainNonce: state.nonce,
      sign: (asset, nonce) =>
        asset === "gas"
          ? wallet.signGas(state, nonce, request.recipient, faucet.gasWei)
          : wallet.signUsdc(state, nonce, request.recipient, faucet.usdcAtomic)
    })
    if (reserved._tag === "Limited") return yield* limitReached(reserved)
    return { grantId, transactions: reserved.transactions }
  })

  /** A lost answer and a lagging node look like a taken nonce at first: asks for a while until it is believed. */
  const sendOne = (transaction: OutgoingTransaction) =>
    wallet.broadcast(transaction.raw, versionsOf(transaction)).pipe(
      Effect.repeat({
        schedule: Schedule.spaced(Duration.toMillis(lostAfter) / 4),
        times: 4,
        until: (verdict) => verdict !== "taken"
      })
    )

  /** Sends in order; a refusal gives back what was not sent. */
  const broadcast = Effect.fnUntraced(function* (
    grantId: string,
    transactions: ReadonlyArray<OutgoingTransaction>,
    state: WalletState
  ) {
    for (const [index, transaction] of transactions.entries()) {
      const verdict = yield* sendOne(transaction)
      // It may be under way: the reservation stays and is tended.
      if (verdict === "unknown") return yield* chainDown()
      if (verdict === "accepted") continue
      yield* repo.giveBack(wallet.address, grantId, transactions.slice(index), index > 0, (nonce) =>
        wallet.signFiller(state, nonce)
      )
      if (verdict === "refused") return yield* empty("gas")
      yield* tellShared
      return index === 0 ? "lost" : yield* sharedWallet
    }
    return "sent"
  })

  /** Reserves, sends and waits for the blocks. `lost`: others took the nonces, nothing moved, all is given back. */
  const attempt = Effect.fnUntraced(function* (request: GrantRequest, state: WalletState) {
    if (state.usdcAtomic < faucet.usdcAtomic) return yield* empty("USDC")
    if (state.wei < wallet.costOf(state, faucet.gasWei)) return yield* empty("gas")
    const { grantId, transactions } = yield* reserve(request, state)
    if ((yield* broadcast(grantId, transactions, state)) === "lost") return "lost"
    const sightings = yield* Effect.forEach(transactions, settleUp, { concurrency: 2 }).pipe(
      Effect.orElseSucceed((): ReadonlyArray<Sighting> => [{ outcome: "open" }]),
      Effect.repeat({
        schedule: Schedule.spaced("200 millis"),
        until: (all) => !all.some(({ outcome }) => outcome === "open")
      }),
      Effect.timeoutOption(patience)
    )
    // Broadcast and in no block yet: it is tended until it is.
    if (Option.isNone(sightings)) return yield* underWay
    const [gas, usdc] = sightings.value
    // Others' grants took the last of it between the look and the block.
    if (usdc?.outcome === "reverted") return yield* empty("USDC")
    if (usdc?.outcome !== "moved") return gas?.outcome === "moved" ? yield* sharedWallet : "lost"
    const grant: Grant = {
      recipient: request.recipient,
      usdcAtomic: faucet.usdcAtomic,
      gasWei: gas?.outcome === "moved" ? faucet.gasWei : 0n,
      transactionIds: sightings.value.flatMap(({ outcome, transactionId }) =>
        outcome === "lost" || transactionId === undefined ? [] : [transactionId]
      )
    }
    return grant
  })

  const grant = Effect.fn("Faucet.grant")(function* (request: GrantRequest) {
    // Before the chain is asked, so that hammering a used-up faucet costs the nodes nothing.
    const held = yield* repo.held(request, yield* DateTime.nowAsDate)
    if (held !== undefined) return yield* limitReached(held)
    const state = wallet.state.pipe(Effect.catchTag("ChainUnavailable", chainDown))
    const first = yield* attempt(request, yield* state)
    if (first !== "lost") return first
    const now = yield* state
    const second = yield* attempt(request, {
      ...now,
      nonce: Math.max(now.nonce, yield* wallet.freshNonce)
    })
    return second === "lost" ? yield* sharedWallet : second
  })

  const tendOne = Effect.fnUntraced(function* (transaction: OutgoingTransaction, next: number) {
    const now = yield* DateTime.nowAsDate
    const age = now.getTime() - transaction.createdAt.getTime()
    if (transaction.nonce < next) {
      const { outcome } = yield* settleUp(transaction)
      if (outcome === "reverted" && transaction.asset === "usdc") yield* tellEmpty("USDC")
      return
    }
    if (age < Duration.toMillis(sendAgainAfter)) return
    const versions = versionsOf(transaction)
    if (transaction.nonce === next && age >= Duration.toMillis(stuckAfter)) {
      const raw = yield* wallet.signDearer(yield* wallet.state, transaction.raw)
      if (yield* repo.replace(wallet.address, transaction, raw, now)) yield* wallet.broadcast(raw, versions)
      return
    }
    // A taken nonce is left until a block has passed it: only then is it certain whose it was.
    if ((yield* wallet.broadcast(transaction.raw, versions)) === "refused") yield* tellEmpty("gas")
  })

  /** Finishes open transactions: notes the mined, repeats the lost, raises the fee of the stuck. */
  const tend = Effect.gen(function* () {
    const open = yield* repo.open(wallet.address)
    if (open.length === 0) return
    const next = yield* wallet.minedNonce
    yield* Effect.forEach(open, (transaction) => tendOne(transaction, next), { discard: true })
  })
  yield* tend.pipe(
    Effect.catchCause((cause) => Effect.logWarning("The faucet's open transactions were not tended", cause)),
    Effect.repeat(Schedule.spaced(tendEvery)),
    Effect.forkScoped
  )

  return Faucet.of({ offer: { enabled: true, usdcAtomic: faucet.usdcAtomic }, held: heldBy(repo), grant })
})

/** As `layerLive`, at another pace. */
export const layerLiveWith = (
  timing: Partial<FaucetTiming>
): Layer.Layer<Faucet, never, AppConfig | RpcPool | FaucetRepo | Alerts | SecureRandom.SecureRandom> =>
  Layer.effect(
    Faucet,
    Effect.flatMap(AppConfig, ({ faucet }) =>
      Option.match(faucet.privateKey, {
        onNone: () => makeOff,
        onSome: (key) => make(key, { ...defaultTiming, ...timing })
      })
    )
  )

export const layerLive = Layer.suspend(() => layerLiveWith({}))
