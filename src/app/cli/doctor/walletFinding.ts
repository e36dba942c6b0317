import { Effect } from "effect"
import { type Hex, isHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { oneNode } from "../../../chain/oneNode.ts"
import { Quantity } from "../../../chain/RpcSchemas.ts"
import type { Env } from "../../../domain/Chain.ts"
import { networks } from "../../../domain/networks.ts"
import { type Finding, failure, ok, warning } from "./Finding.ts"

/** A wallet that pays fees: the faucet's, which holds test USDC too, or the relayer's. */
export const walletFinding = (
  about: "faucet" | "relayer",
  env: Env,
  key: string,
  node: string | undefined
): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    if (!isHex(key) || node === undefined) return failure(about, "The key is invalid.")
    return yield* balanceFinding(about, env, key, node)
  })

const balanceFinding = (about: "faucet" | "relayer", env: Env, key: Hex, node: string) => {
  const address = privateKeyToAddress(key)
  return oneNode(env, node)
    .call("eth_getBalance", [address, "latest"], Quantity)
    .pipe(
      Effect.map((wei) =>
        wei === 0n
          ? warning(
              about,
              about === "faucet"
                ? `${address} has no ETH to pay fees. Send it ETH and test USDC.`
                : `${address} has no ETH, so buyers pay their own fees and agents cannot pay. Send it ETH on ${networks[env].name}.`
            )
          : ok(about, `${address} has ${(Number(wei) / 1e18).toFixed(5)} ETH on ${networks[env].name}`)
      ),
      Effect.catch(({ message, words }) =>
        Effect.succeed(warning(about, `The balance is unavailable: ${words ?? message}.`))
      )
    )
}
