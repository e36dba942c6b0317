// The faucet on a real chain: reserves under the limits, broadcasts, waits until the grant is mined. A worker's
// fiber finishes what a crash or a stuck fee left open.

import { DateTime, type Duration, Effect, Option, Redacted, Schedule, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { isHex } from "viem"
import { ChainUnavailable } from "../../../domain/Errors.ts"
import { faucetNetwork } from "../../../domain/networks.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { Alerts } from "../../../platform/alerts/Alerts.ts"
import { DenyList } from "../../DenyList.ts"
import { RpcPool } from "../../RpcPool.ts"
import type { WalletState } from "../../wallets/HotWallet.ts"
import { makeEmptyAlert } from "../../wallets/makeEmptyAlert.ts"
import {
  defaultOutboxTiming,
  makeOutbox,
  type OutboxTiming,
  type TransactionState
} from "../../wallets/Outbox.ts"
import { OutboxRepo, type OutgoingTransaction } from "../../wallets/OutboxRepo.ts"
import { FaucetRepo } from "./FaucetRepo.ts"
import type { FaucetService, Grant, GrantRequest } from "./FaucetService.ts"
import { type FaucetWallet, makeFaucetWallet } from "./FaucetWallet.ts"
import { zeroAddress } from "./limits.ts"
import {
  deniedRecipient,
  emptyWallet,
  limitReached,
  notConfigured,
  revertingToken,
  sharedWallet,
  underWay
} from "./refusals.ts"

export interface FaucetTiming extends OutboxTiming {
  /** The longest that a grant waits to be mined. */
  readonly minedTimeout: Duration.Input
}

const defaultTiming: FaucetTiming = {
  ...defaultOutboxTiming,
  checkEvery: "5 seconds",
  minedTimeout: "20 seconds"
}

const limitCheckBy = (repo: FaucetRepo["Service"]): FaucetService["checkLimits"] =>
  Effect.fn("Faucet.checkLimits")(function* (request) {
    const blockingLimit = yield* repo.checkLimits(
      { ...request, recipient: zeroAddress },
      yield* DateTime.nowAsDate
    )
    if (blockingLimit !== undefined) return yield* limitReached(blockingLimit)
  })

const makeDisabledFaucet = Effect.map(
  Alerts,
  (alerts): FaucetService => ({
    offer: { enabled: false, usdcAtomic: 0n },
    checkLimits: () => Effect.void,
    grant: Effect.fn("Faucet.grant")(function* () {
      yield* alerts.raise({
        kind: "faucet_not_configured",
        tenant: Option.none(),
        env: faucetNetwork.env,
        subject: "faucet",
        message:
          "A buyer asked for test funds, but the faucet is off. Set FAUCET_PRIVATE_KEY to a wallet that holds USDC and gas on Base Sepolia."
      })
      return yield* notConfigured
    })
  })
)

const make = Effect.fnUntraced(function* (
  privateKey: Redacted.Redacted<string>,
  { minedTimeout, ...timing }: FaucetTiming
) {
  const { faucet } = yield* AppConfig
  const pool = yield* RpcPool
  const repo = yield* FaucetRepo
  const alerts = yield* Alerts
  const random = yield* SecureRandom.SecureRandom
  const denyList = yield* DenyList
  const key = Redacted.value(privateKey)
  if (!isHex(key)) return yield* makeDisabledFaucet
  const wallet: FaucetWallet = makeFaucetWallet(key, pool)
  const chainDown = () => Effect.fail(new ChainUnavailable({ retryAfter: 5 }))

  const emptyAlert = makeEmptyAlert(alerts, "faucet_empty", faucetNetwork.env, wallet)
  const alertEmpty = (asset: string) =>
    emptyAlert.raise(`The faucet's wallet ${wallet.address} is out of ${asset}. Fund it on Base Sepolia.`)
  /** Resolves, once, the alert that an earlier process without a wallet may have raised. */
  const configured = yield* Effect.cached(
    Effect.ignoreCause(alerts.resolve("faucet_not_configured", "faucet"))
  )
  const empty = (asset: string) => Effect.andThen(alertEmpty(asset), Effect.fail(emptyWallet))

  const alertShared = Effect.suspend(() =>
    alerts.raise({
      kind: "faucet_wallet_shared",
      tenant: Option.none(),
      env: faucetNetwork.env,
      subject: wallet.address,
      message: `Something else sends transactions from the faucet's wallet ${wallet.address}, so grants lose their nonces to it. Set a different FAUCET_PRIVATE_KEY for each deployment, and use the key nowhere else.`
    })
  )

  /** A grant's USDC did not move: other grants took the last of it, or the token refuses the wallet. */
  const alertReverted = Effect.gen(function* () {
    const { usdcAtomic } = yield* wallet.state
    if (usdcAtomic < faucet.usdcAtomic) {
      yield* alertEmpty("USDC")
      return emptyWallet
    }
    yield* alerts.raise({
      kind: "faucet_transfer_reverts",
      tenant: Option.none(),
      env: faucetNetwork.env,
      subject: wallet.address,
      message: `A transfer of USDC from the faucet's wallet ${wallet.address} reverted, although the wallet holds enough. Check whether the token is paused, or the wallet blacklisted.`
    })
    return revertingToken
  }).pipe(Effect.catchTag("RpcUnavailable", () => Effect.succeed(revertingToken)))

  const outbox = makeOutbox({
    wallet,
    repo: yield* OutboxRepo,
    timing,
    onEmpty: alertEmpty("gas"),
    onLost: alertShared,
    end: repo.end,
    onEnd: ({ purpose }, outcome) =>
      purpose === "usdc" && outcome === "reverted" ? Effect.asVoid(alertReverted) : Effect.void
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
      gasOf: wallet.gasOf,
      weiOf: (asset) => wallet.gasOf(asset) * state.fees.maxFeePerGas,
      sign: (asset, nonce) =>
        asset === "gas"
          ? wallet.signGas(state, nonce, request.recipient, faucet.gasWei)
          : wallet.signUsdc(state, nonce, request.recipient, faucet.usdcAtomic)
    })
    if (reserved._tag === "Limited") return yield* limitReached(reserved)
    if (reserved._tag === "Blocked") return yield* empty("gas")
    return { grantId, transactions: reserved.transactions }
  })

  /** Sends in order. A refusal returns what was not sent and fills its nonces. */
  const broadcast = Effect.fnUntraced(function* (
    grantId: string,
    transactions: ReadonlyArray<OutgoingTransaction>
  ) {
    for (const [index, transaction] of transactions.entries()) {
      const verdict = yield* outbox.offer(transaction)
      // It may be in progress: the reservation stays until it ends.
      if (verdict === "unknown") return yield* chainDown()
      if (verdict === "sent") continue
      yield* Effect.forEach(transactions.slice(index), outbox.fill, { discard: true })
      yield* repo.giveBack(grantId, index > 0)
      if (verdict === "no_funds") return yield* empty("gas")
      yield* alertShared
      return index === 0 ? "lost" : yield* sharedWallet
    }
    return "sent"
  })

  /**
   * Reserves, sends and waits for the blocks. `lost`: other transactions took the nonces, nothing moved, everything is
   * returned.
   */
  const attempt = Effect.fnUntraced(function* (request: GrantRequest, state: WalletState) {
    if (state.usdcAtomic < faucet.usdcAtomic) return yield* empty("USDC")
    if (state.wei < wallet.costOf(state, faucet.gasWei)) return yield* empty("gas")
    if (!(yield* outbox.unblock())) return yield* empty("gas")
    const { grantId, transactions } = yield* reserve(request, state)
    if ((yield* broadcast(grantId, transactions)) === "lost") return "lost"
    const sightings = yield* Effect.forEach(transactions, outbox.check, { concurrency: 2 }).pipe(
      Effect.orElseSucceed((): ReadonlyArray<TransactionState> => [{ outcome: "open" }]),
      Effect.repeat({
        schedule: Schedule.spaced("200 millis"),
        until: (all) => !all.some(({ outcome }) => outcome === "open")
      }),
      Effect.timeoutOption(minedTimeout)
    )
    // Broadcast, but in no block yet: the worker continues to check it.
    if (Option.isNone(sightings)) return yield* underWay
    const [gas, usdc] = sightings.value
    if (usdc?.outcome === "reverted") return yield* yield* alertReverted
    if (usdc?.outcome !== "moved") return gas?.outcome === "moved" ? yield* sharedWallet : "lost"
    if (gas?.outcome === "moved") yield* Effect.andThen(emptyAlert.paid, configured)
    const grant: Grant = {
      recipient: request.recipient,
      usdcAtomic: faucet.usdcAtomic,
      gasWei: gas?.outcome === "moved" ? faucet.gasWei : 0n,
      transactionIds: sightings.value.flatMap((sighting) =>
        sighting.outcome === "open" || sighting.transactionId === null ? [] : [sighting.transactionId]
      )
    }
    return grant
  })

  const grant = Effect.fn("Faucet.grant")(function* (request: GrantRequest) {
    if (denyList.has(request.recipient)) return yield* deniedRecipient
    // Before any request to the chain, so that repeated requests to a used-up faucet cost the nodes nothing.
    const blockingLimit = yield* repo.checkLimits(request, yield* DateTime.nowAsDate)
    if (blockingLimit !== undefined) return yield* limitReached(blockingLimit)
    const state = wallet.state.pipe(Effect.catchTag("RpcUnavailable", chainDown))
    const first = yield* attempt(request, yield* state)
    if (first !== "lost") return first
    const now = yield* state
    const second = yield* attempt(request, {
      ...now,
      nonce: Math.max(now.nonce, yield* wallet.highestNextNonce)
    })
    return second === "lost" ? yield* sharedWallet : second
  })

  yield* outbox.worker

  return { offer: { enabled: true, usdcAtomic: faucet.usdcAtomic }, checkLimits: limitCheckBy(repo), grant }
})

/** The faucet of AppConfig's wallet, or a disabled faucet. Tests change its timing. */
export const makeFaucet = (
  timing: Partial<FaucetTiming> = {}
): Effect.Effect<
  FaucetService,
  never,
  AppConfig | RpcPool | FaucetRepo | OutboxRepo | Alerts | SecureRandom.SecureRandom | Scope.Scope
> =>
  Effect.flatMap(AppConfig, ({ faucet }) =>
    Option.match(faucet.privateKey, {
      onNone: () => makeDisabledFaucet,
      onSome: (key) => make(key, { ...defaultTiming, ...timing })
    })
  )
