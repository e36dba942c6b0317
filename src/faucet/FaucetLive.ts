// The faucet on a real chain: reserve under the limits, broadcast, wait until it is
// mined; a supervised fiber finishes what a crash or a stuck fee left open.
import { DateTime, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { isHex } from "viem"
import { AppConfig } from "../AppConfig.ts"
import { Alerts } from "../alerts/Alerts.ts"
import { RpcPool } from "../chain/RpcPool.ts"
import { ChainUnavailableError, FaucetLimitReached, FaucetUnavailable } from "../domain/Errors.ts"
import { Faucet, type GrantRequest } from "./Faucet.ts"
import { FaucetRepo, type OutgoingTransaction } from "./FaucetRepo.ts"
import { type FaucetWallet, makeFaucetWallet, type WalletState } from "./FaucetWallet.ts"

const limitAdvice = {
  recipient: "This wallet has had its 3 grants of the last 24 hours.",
  merchant: "This merchant's 25 grants of the last 24 hours are used up.",
  ip: "This network address has had its 20 grants of the last hour."
} as const

/** How long a transaction may wait before it is sent again at a higher fee. */
const stuckMillis = 60_000

const off: Faucet["Service"] = {
  offer: { enabled: false, usdcAtomic: 0n },
  grant: () =>
    Effect.fail(
      new FaucetUnavailable({
        reason: "not_configured",
        message: "This deployment has no faucet: its operator has not set FAUCET_PRIVATE_KEY."
      })
    )
}

const make = Effect.fnUntraced(function* (privateKey: Redacted.Redacted<string>) {
  const { faucet } = yield* AppConfig
  const pool = yield* RpcPool
  const repo = yield* FaucetRepo
  const alerts = yield* Alerts
  const random = yield* SecureRandom.SecureRandom
  const key = Redacted.value(privateKey)
  if (!isHex(key)) return off
  const wallet: FaucetWallet = makeFaucetWallet(key, pool)
  const chainDown = () => Effect.fail(new ChainUnavailableError({ retryAfter: 5 }))

  const markIfMined = Effect.fnUntraced(function* ({ nonce, transactionId }: OutgoingTransaction) {
    const mined = yield* wallet.isMined(transactionId)
    if (mined) yield* repo.markMined(wallet.address, nonce, yield* DateTime.nowAsDate)
    return mined
  })

  const empty = Effect.fnUntraced(function* (asset: string) {
    yield* alerts.raise({
      kind: "faucet_empty",
      tenant: Option.none(),
      subject: wallet.address,
      message: `The faucet's wallet ${wallet.address} lacks ${asset}. Fund it on Base Sepolia.`
    })
    return yield* new FaucetUnavailable({
      reason: "empty",
      message:
        "The faucet's wallet is empty. The operator has been told; fund the buyer's wallet another way."
    })
  })

  const reserve = Effect.fnUntraced(function* (request: GrantRequest, state: WalletState) {
    const at = yield* DateTime.nowAsDate
    const grantId = yield* random.uuidV7()
    const reserved = yield* repo.reserve({
      grantId,
      wallet: wallet.address,
      request,
      usdcAtomic: faucet.usdcAtomic,
      gasWei: faucet.gasWei,
      at,
      chainNonce: state.nonce,
      sign: (asset, nonce) =>
        asset === "gas"
          ? wallet.signGas(state, nonce, request.recipient, faucet.gasWei)
          : wallet.signUsdc(state, nonce, request.recipient, faucet.usdcAtomic)
    })
    if (reserved._tag === "Limited") {
      return yield* new FaucetLimitReached({
        reason: reserved.limit,
        message: limitAdvice[reserved.limit],
        retryAfter: reserved.retryAfter
      })
    }
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
      if (verdict === "unknown") return yield* chainDown()
      if (verdict === "accepted") continue
      yield* repo.giveBack(wallet.address, grantId, transactions.slice(index), index > 0, (nonce) =>
        wallet.signFiller(state, nonce)
      )
      return yield* empty("gas")
    }
  })

  const grant = Effect.fn("Faucet.grant")(function* (request: GrantRequest) {
    const state = yield* wallet.state.pipe(Effect.catchTag("ChainUnavailable", chainDown))
    if (state.usdcAtomic < faucet.usdcAtomic) return yield* empty("USDC")
    if (state.wei < wallet.costOf(state, faucet.gasWei)) return yield* empty("gas")
    const { grantId, transactions } = yield* reserve(request, state)
    yield* broadcast(grantId, transactions, state)
    yield* Effect.forEach(transactions, markIfMined, { concurrency: 2 }).pipe(
      Effect.orElseSucceed(() => [false]),
      Effect.repeat({
        schedule: Schedule.spaced("200 millis"),
        until: (mined) => mined.every(Boolean)
      }),
      Effect.timeoutOption("20 seconds")
    )
    return {
      recipient: request.recipient,
      usdcAtomic: faucet.usdcAtomic,
      gasWei: faucet.gasWei,
      transactionIds: transactions.map((one) => one.transactionId)
    }
  })

  /** Finishes open transactions: notes the mined, repeats the lost, raises the fee of the stuck. */
  const tend = Effect.gen(function* () {
    const open = yield* repo.open(wallet.address)
    if (open.length === 0) return
    const next = yield* wallet.minedNonce
    const now = yield* DateTime.nowAsDate
    for (const transaction of open) {
      // Whatever was mined at a nonce ends it; a replaced version counts too.
      if (transaction.nonce < next) {
        yield* repo.markMined(wallet.address, transaction.nonce, now)
        continue
      }
      const age = now.getTime() - transaction.createdAt.getTime()
      if (age < 5_000) continue
      if (transaction.nonce === next && age > stuckMillis) {
        const raw = yield* wallet.signDearer(yield* wallet.state, transaction.raw)
        yield* repo.replace(wallet.address, transaction.nonce, raw, now)
        yield* wallet.broadcast(raw)
      } else {
        yield* wallet.broadcast(transaction.raw)
      }
    }
  })
  yield* tend.pipe(
    Effect.catchCause((cause) => Effect.logWarning("The faucet's open transactions were not tended", cause)),
    Effect.repeat(Schedule.spaced("5 seconds")),
    Effect.forkScoped
  )

  return Faucet.of({ offer: { enabled: true, usdcAtomic: faucet.usdcAtomic }, grant })
})

export const layerLive: Layer.Layer<
  Faucet,
  never,
  AppConfig | RpcPool | FaucetRepo | Alerts | SecureRandom.SecureRandom
> = Layer.suspend(() =>
  Layer.effect(
    Faucet,
    Effect.flatMap(AppConfig, ({ faucet }) =>
      Option.match(faucet.privateKey, { onNone: () => Effect.succeed(off), onSome: make })
    )
  )
)
