import { Effect } from "effect"
import { type Hex, isHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { Quantity } from "../../../chain/RpcSchemas.ts"
import { askNode } from "./askNode.ts"
import { type Finding, failure, ok, warning } from "./Finding.ts"

/** A wallet that pays fees: the faucet's, which holds test USDC too, or the relayer's. */
export const walletFinding = (
  about: "faucet" | "relayer",
  key: string,
  node: string | undefined
): Effect.Effect<Finding> =>
  Effect.gen(function* () {
    if (!isHex(key) || node === undefined) return failure(about, "Its key cannot be read.")
    return yield* balanceFinding(about, key, node)
  })

const balanceFinding = (about: "faucet" | "relayer", key: Hex, node: string) => {
  const address = privateKeyToAddress(key)
  return askNode(node, Quantity, "eth_getBalance", [address, "latest"]).pipe(
    Effect.map((wei) =>
      wei === 0n
        ? warning(
            about,
            about === "faucet"
              ? `${address} has no ETH to pay fees with. Send it some, and test USDC.`
              : `${address} has no ETH: buyers pay their own fees, and agents cannot pay. Send it some.`
          )
        : ok(about, `${address} has ${(Number(wei) / 1e18).toFixed(5)} ETH`)
    ),
    Effect.orElseSucceed(() => warning(about, "Its balance cannot be read: the node does not answer."))
  )
}
