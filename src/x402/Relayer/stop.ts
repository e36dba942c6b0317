// When nothing is relayed for anybody, because of the price of gas or of what the day has cost; operators are alerted.
import { DateTime, Effect, Option } from "effect"
import { formatEther, formatGwei } from "viem"
import type { WalletState } from "../../chain/wallets/HotWallet.ts"
import type { Network, RelayBound } from "../../domain/networks.ts"
import type { Alerts } from "../../platform/alerts/Alerts.ts"

export const stoppedKind = "relaying_stopped"

/** Gas that a payment of an account's signature takes at most. */
const accountGas = 160_000n
/** Bytes of its call data. */
export const usualBytes = 4 + 11 * 32

/** The most that a payment of an account's signature costs. */
export const usualWei = ({ postingGas }: Network, maxFeePerGas: bigint, l1Fee: bigint): bigint =>
  (accountGas + postingGas) * maxFeePerGas + l1Fee

/** A stop within so long after the last one is the same one. */
const resumedMillis = 3_600_000

export const makeStop = (
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
        message: `${problem} Nothing is relayed on ${name} meanwhile: buyers pay their own fees, transfers settle, and what was sent before goes on. ${remedy}`
      })
    )
  const smallest = (["merchant", "payer", "total"] as const).reduce((one, other) =>
    bounds[other] < bounds[one] ? other : one
  )
  return {
    /** True if one usual payment costs more than a budget allows in a day; alerts then. */
    byPrice: Effect.fnUntraced(function* ({ fees, price }: WalletState, l1Fee: bigint) {
      const wei = usualWei(network, fees.maxFeePerGas, l1Fee)
      if (wei <= bounds[smallest]) return false
      const { setting } = relayWei[smallest]
      yield* alert(
        `At the present gas price of ${formatGwei(price)} gwei, a payment by signature on ${name} may cost ${formatEther(wei)} ETH, more than the ${formatEther(bounds[smallest])} ETH of ${setting}.`,
        `It goes on by itself once the price falls. To relay at this price, raise ${setting} and restart.`
      )
      return true
    }),
    /** Alerts that the day's budget of all is used up. */
    byTotal: alert(
      `The relaying wallet ${wallet.address} has used the ${formatEther(bounds.total)} ETH that ${relayWei.total.setting} allows in 24 hours.`,
      `It goes on by itself as earlier fees become a day old. If the payments are genuine, raise ${relayWei.total.setting} and restart.`
    )
  }
}
