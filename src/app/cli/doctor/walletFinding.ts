// Checks for `doctor` how long the balance of a wallet that pays fees lasts.
import { Effect } from "effect"
import { formatEther, type Hex, isHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { makeSingleNode } from "../../../chain/makeSingleNode.ts"
import { Quantity } from "../../../chain/RpcSchemas.ts"
import type { Env } from "../../../domain/Chain.ts"
import { networks } from "../../../domain/networks.ts"
import { type Finding, failure, ok, warning } from "./Finding.ts"

/** A relayer's wallet that lasts for fewer days than this is about to run out. */
const minDays = 3

/** How long the balance lasts at last week's average spending; empty if that is unknown. */
const runwayOf = (wei: bigint, spentADay: bigint | undefined) => {
  if (spentADay === undefined) return { days: Number.POSITIVE_INFINITY, words: "" }
  const tenths = (wei * 10n) / spentADay
  return {
    days: Number(tenths) / 10,
    words: `, enough for ${Number(tenths) / 10} days at ${eth(spentADay)} ETH a day, as in the last week`
  }
}

const eth = (wei: bigint) => Number(formatEther(wei)).toLocaleString("en", { maximumSignificantDigits: 3 })

/** A wallet that pays fees: the faucet's, which also holds test USDC, or the relayer's. */
export const walletFinding = <E, R>(
  about: "faucet" | "relayer",
  env: Env,
  key: string,
  node: string | undefined,
  /** The wei that relayers' wallets spend per day on average, if known. */
  spending: Effect.Effect<ReadonlyMap<string, bigint | undefined>, E, R>
): Effect.Effect<Finding, E, R> =>
  Effect.gen(function* () {
    if (!isHex(key) || node === undefined)
      return failure(about, "The wallet's key or its node is not usable. Check the key and the RPC URLs.")
    return yield* balanceFinding(about, env, key, node, (yield* spending).get(privateKeyToAddress(key)))
  })

const balanceFinding = (
  about: "faucet" | "relayer",
  env: Env,
  key: Hex,
  node: string,
  spentADay: bigint | undefined
) => {
  const address = privateKeyToAddress(key)
  return makeSingleNode(env, node)
    .call("eth_getBalance", [address, "latest"], Quantity)
    .pipe(
      Effect.map((wei) => {
        const { days, words } = runwayOf(wei, spentADay)
        const holds = `${address} has ${(Number(wei) / 1e18).toFixed(5)} ETH on ${networks[env].name}${words}`
        if (wei > 0n) return days < minDays ? warning(about, `${holds}. Send it ETH.`) : ok(about, holds)
        return warning(
          about,
          about === "faucet"
            ? `${address} has no ETH to pay fees. Send it ETH and test USDC.`
            : `${address} has no ETH, so buyers pay their own fees and agents cannot pay. Send it ETH on ${networks[env].name}.`
        )
      }),
      Effect.catch(({ message, nodeMessage }) =>
        Effect.succeed(
          warning(
            about,
            `The balance of ${address} on ${networks[env].name} is unavailable: ${nodeMessage ?? message}.`
          )
        )
      )
    )
}
