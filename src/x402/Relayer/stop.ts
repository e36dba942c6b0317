// Alerts operators when nothing can be relayed for anybody, because of the gas price or the day's budget.
import { DateTime, Effect, Option } from "effect"
import { formatEther, formatGwei } from "viem"
import type { WalletState } from "../../chain/wallets/HotWallet.ts"
import type { Network, RelayBound } from "../../domain/networks.ts"
import type { Alerts } from "../../platform/alerts/Alerts.ts"

export const stoppedKind = "relaying_stopped"

/** The maximum gas of a payment with an account's signature. */
const accountGas = 160_000n
/** The length of its call data in bytes. */
export const typicalBytes = 4 + 11 * 32

/** The maximum cost of a payment with an account's signature. */
export const typicalWei = ({ postingGas }: Network, maxFeePerGas: bigint, l1Fee: bigint): bigint =>
  (accountGas + postingGas) * maxFeePerGas + l1Fee

/** A stop within this time after the last one reopens the same alert. */
const resumedMillis = 3_600_000

export const makeStopAlerts = (
  network: Network,
  bounds: { readonly [B in RelayBound]: bigint },
  alerts: Alerts["Service"],
  wallet: { readonly address: string }
) => {
  const { name, relayWei } = network
  const alert = (problem: string, remedy: string) =>
    Effect.flatMap(DateTime.now, (now) =>
      alerts.raise({
        kind: stoppedKind,
        tenant: Option.none(),
        env: network.env,
        subject: wallet.address,
        resumesSince: DateTime.toDateUtc(DateTime.subtract(now, { milliseconds: resumedMillis })),
        message: `${problem} Nothing is relayed on ${name} for now: buyers pay their own fees, transfers still settle, and transactions already sent are completed. ${remedy}`
      })
    )
  const smallest = (["merchant", "payer", "total"] as const).reduce((least, other) =>
    bounds[other] < bounds[least] ? other : least
  )
  return {
    /** True if one usual payment costs more than a budget allows in a day; then also alerts. */
    checkPrice: Effect.fnUntraced(function* ({ fees, price }: WalletState, l1Fee: bigint) {
      const wei = typicalWei(network, fees.maxFeePerGas, l1Fee)
      if (wei <= bounds[smallest]) return false
      const { setting } = relayWei[smallest]
      yield* alert(
        `At the current gas price of ${formatGwei(price)} gwei, a payment by signature on ${name} may cost ${formatEther(wei)} ETH, more than the ${formatEther(bounds[smallest])} ETH of ${setting}.`,
        `Relaying resumes once the price falls. To relay at this price, raise ${setting} and restart.`
      )
      return true
    }),
    /** Alerts that the wallet's total budget for the day is used up. */
    alertBudgetUsed: alert(
      `The relayer's wallet ${wallet.address} has used the ${formatEther(bounds.total)} ETH that ${relayWei.total.setting} allows in 24 hours.`,
      `Relaying resumes as earlier fees become a day old. If the payments are genuine, raise ${relayWei.total.setting} and restart.`
    )
  }
}
