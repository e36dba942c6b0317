// The faucet on a real chain: reserve under the limits, broadcast, wait until it is
// mined; a supervised fiber finishes what a crash or a stuck fee left open.
import { DateTime, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { isHex } from "viem"
import { AppConfig } from "../AppConfig.ts"
import { Alerts } from "../alerts/Alerts.ts"
import { RpcPool } from "../chain/RpcPool.ts"
import { ChainUnavailableError } from "../domain/Errors.ts"
import { Faucet, type GrantRequest } from "./Faucet.ts"
import { FaucetRepo, type OutgoingTransaction } from "./FaucetRepo.ts"
import { type FaucetWallet, makeFaucetWallet, type WalletState } from "./FaucetWallet.ts"
import { emptyWallet, limitReached, notConfigured } from "./refusals.ts"

export interface FaucetTiming {
  /** Between looks at open transactions. */
  readonly tendEvery: Duration.Input
  /** Age at which an open transaction is sent again, as after a crash. */
  readonly sendAgainAfter: Duration.Input
  /** Age at which the next transaction in line counts as stuck and gets a higher fee. */
  readonly stuckAfter: Duration.Input
  /** The longest that a grant waits to be mined. */
  readonly patience: Duration.Input
}

const defaultTiming: FaucetTiming = {
  tendEvery: "5 seconds",
  sendAgainAfter: "5 seconds",
  stuckAfter: "1 minute",
  patience: "20 seconds"
}

const makeOff = Effect.map(Alerts, (alerts): Faucet["Service"] => ({
  offer: { enabled: false, usdcAtomic: 0n },
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
  { patience, sendAgainAfter, stuckAfter, tendEvery }: FaucetTiming
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

  /** Notes what became of a transaction once it is in a block. */
  const settleUp = Effect.fnUntraced(function* ({ nonce, transactionId }: OutgoingTransaction) {
    const outcome = yield* wallet.outcomeOf(transactionId)
    if (outcome !== "open") {
      yield* repo.markMined(wallet.address, nonce, outcome, yield* DateTime.nowAsDate)
    }
    return outcome
  })

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

  /** Sends in order; a refusal gives back what was not sent. */
  const broadcast = Effect.fnUntraced(function* (
    grantId: string,
    transactions: ReadonlyArray<OutgoingTransaction>,
    state: WalletState
  ) {
    for (const [index, { raw }] of transactions.entries()) {
      const verdict = yield* wallet.broadcast(raw)
      // It may be under way: the reservation stays and is tended.
      if (verdict === "unknown") return yield* chainDown()
      if (verdict === "accepted") continue
      yield* repo.giveBack(wallet.address, grantId, transactions.slice(index), index > 0, (nonce) =>
        wallet.signFiller(state, nonce)
      )
      return yield* empty("gas")
    }
  })

  const grant = Effect.fn("Faucet.grant")(function* (request: GrantRequest) {
    // Before the chain is asked, so that hammering a used-up faucet costs the nodes nothing.
    const held = yield* repo.held(request, yield* DateTime.nowAsDate)
    if (held !== undefined) return yield* limitReached(held)
    const state = yield* wallet.state.pipe(Effect.catchTag("ChainUnavailable", chainDown))
    if (state.usdcAtomic < faucet.usdcAtomic) return yield* empty("USDC")
    if (state.wei < wallet.costOf(state, faucet.gasWei)) return yield* empty("gas")
    const { grantId, transactions } = yield* reserve(request, state)
    yield* broadcast(grantId, transactions, state)
    const outcomes = yield* Effect.forEach(transactions, settleUp, { concurrency: 2 }).pipe(
      Effect.orElseSucceed(() => ["open" as const]),
      Effect.repeat({
        schedule: Schedule.spaced("200 millis"),
        until: (all) => !all.some((outcome) => outcome === "open")
      }),
      Effect.timeoutOption(patience)
    )
    const [gas, usdc] = Option.getOrElse(outcomes, () => [])
    // Others' grants took the last of it between the look and the block.
    if (usdc === "reverted") return yield* empty("USDC")
    return {
      recipient: request.recipient,
      usdcAtomic: faucet.usdcAtomic,
      gasWei: gas === "reverted" ? 0n : faucet.gasWei,
      transactionIds: transactions.map((one) => one.transactionId)
    }
  })

  const tendOne = Effect.fnUntraced(function* (transaction: OutgoingTransaction, next: number) {
    const now = yield* DateTime.nowAsDate
    const age = now.getTime() - transaction.createdAt.getTime()
    if (transaction.nonce < next) {
      // A version replaced since has no receipt, and paid the same.
      const outcome = yield* wallet.outcomeOf(transaction.transactionId)
      const ended = outcome === "open" ? "moved" : outcome
      if (outcome === "open" && age < Duration.toMillis(sendAgainAfter)) return
      yield* repo.markMined(wallet.address, transaction.nonce, ended, now)
      if (ended === "reverted" && transaction.asset === "usdc") yield* tellEmpty("USDC")
      return
    }
    if (age < Duration.toMillis(sendAgainAfter)) return
    if (transaction.nonce === next && age >= Duration.toMillis(stuckAfter)) {
      const raw = yield* wallet.signDearer(yield* wallet.state, transaction.raw)
      if (yield* repo.replace(wallet.address, transaction, raw, now)) yield* wallet.broadcast(raw)
      return
    }
    if ((yield* wallet.broadcast(transaction.raw)) === "refused") yield* tellEmpty("gas")
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

  return Faucet.of({ offer: { enabled: true, usdcAtomic: faucet.usdcAtomic }, grant })
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
