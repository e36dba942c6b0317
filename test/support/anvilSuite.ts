// Tests that share one local chain: real anvil, real USDC, and the verifier as it runs in production. Blocks come only
// when a test mines them.
import { afterAll, test } from "bun:test"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../src/app/dev/LocalUsdc.ts"
import { parseAddress } from "../../src/chain/Address.ts"
import { type ChainAlert, ChainAlerts } from "../../src/chain/ChainAlerts.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import type { Expectation } from "../../src/chain/Verification.ts"
import { type Address, TransactionHash } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { networks } from "../../src/domain/networks.ts"

export const address = (text: string): Address => {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new Error(`not an address: ${text}`)
  return parsed
}

export const alerts: Array<ChainAlert> = []
const collectAlerts = Layer.succeed(ChainAlerts, (alert: ChainAlert) =>
  Effect.sync(() => void alerts.push(alert))
)

export const localChain = LocalChain.layer({ blockTimeSeconds: 0 })

/** A verifier over these nodes; calls share no observations, so that each sees the chain as it is. */
export const verifierOver = (
  urls: ReadonlyArray<string>,
  options: {
    readonly confirmations?: number
    readonly timeout?: number
    readonly cacheTtl?: number
    readonly negativeCacheTtl?: number
  } = {}
): Layer.Layer<ChainVerifier | RpcPool> =>
  ChainVerifier.layer({
    confirmations: { test: options.confirmations ?? 1 },
    finalityDepth: { test: 5 },
    cacheTtl: options.cacheTtl ?? 0,
    negativeCacheTtl: options.negativeCacheTtl ?? 0
  }).pipe(
    Layer.provideMerge(
      RpcPool.layer({
        urls: { test: urls },
        retries: 1,
        timeout: options.timeout ?? 10_000,
        deadline: 20_000
      })
    ),
    Layer.provide(collectAlerts)
  )

export const verifier = Layer.unwrap(Effect.map(LocalChain, ({ rpcUrl }) => verifierOver([rpcUrl])))

/** `test` for Effects that need the chain and the verifier. Call it once in a file. */
export const anvilSuite = () => {
  const runtime = ManagedRuntime.make(Layer.provideMerge(verifier, localChain))
  afterAll(() => runtime.dispose())
  return <E>(
    name: string,
    effect: () => Effect.Effect<unknown, E, LocalChain | ChainVerifier | RpcPool | Scope.Scope>
  ) => test(name, () => runtime.runPromise(Effect.scoped(effect()).pipe(Effect.asVoid)), 180_000)
}

export const usdc = networks.test.usdc.address
export const transferData = (to: Hex, value: bigint): Hex =>
  encodeFunctionData({ abi: usdcAbi, functionName: "transfer", args: [to, value] })
export const transferFromData = (from: Hex, to: Hex, value: bigint): Hex =>
  encodeFunctionData({ abi: usdcAbi, functionName: "transferFrom", args: [from, to, value] })

/** Sends call data from any account, without its key, and mines it. */
export const send = Effect.fnUntraced(function* (from: Hex, to: Hex, data: Hex) {
  const { rpc } = yield* LocalChain
  yield* rpc("anvil_impersonateAccount", [from])
  yield* rpc("anvil_setBalance", [from, "0x8ac7230489e80000"])
  const sent = yield* rpc("eth_sendTransaction", [{ from, to, data, gas: "0x1e8480" }])
  return TransactionHash.make(`0x${String(sent).slice(2)}`)
})

/** A USDC transfer, sent like `send`. */
export const pay = (from: Hex, to: Hex, value: bigint) => send(from, usdc, transferData(to, value))

export const amount = AtomicUsdc.make(2_500_000n)
/** The index in the development mnemonic: each test file has its own accounts. */
export const person = (index: number) =>
  Effect.map(LocalChain, (chain) => address(chain.account(index).address))

export const expectationOf = (
  transactionId: TransactionHash,
  payer: Address,
  receiver: Address,
  changes: Partial<Expectation> = {}
): Expectation => ({
  env: "test",
  transactionId,
  payer,
  receiver,
  amount,
  notBefore: new Date(0),
  tokenChanges: [
    {
      amountAtomic: String(changes.amount ?? amount),
      chainId: 84532,
      receiver: changes.receiver ?? receiver,
      tokenAddress: usdc
    }
  ],
  ...changes
})

/** The verdict in one line: `verified at 0`, `mismatch: amount`. */
export const verdictFor = Effect.fnUntraced(function* (expectation: Expectation) {
  const verifier = yield* ChainVerifier
  const result = yield* verifier.verify(expectation)
  return result._tag === "Verified"
    ? `verified at ${result.logPosition}`
    : `${result._tag.toLowerCase()}: ${result.reason}`
})
