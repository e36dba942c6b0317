// Multicall3 on a local chain, for wallets that are deployed with their payment.
import { Effect } from "effect"
import type { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { multicall } from "../../src/x402/AuthorizationChain.ts"

/** Multicall3 at its address on every public chain. viem contains its code without exporting it. */
export const installMulticall = Effect.fnUntraced(function* (chain: LocalChain["Service"]) {
  const { multicall3Bytecode } = yield* Effect.promise(
    () => import("../../node_modules/viem/constants/contracts.ts")
  )
  const deployer = chain.walletClient(9)
  const receipt = yield* Effect.promise(async () => {
    const hash = await deployer.sendTransaction({ data: multicall3Bytecode })
    return chain.publicClient.waitForTransactionReceipt({ hash })
  })
  const code = yield* chain.rpc("eth_getCode", [receipt.contractAddress, "latest"])
  yield* chain.rpc("anvil_setCode", [multicall, code])
})
