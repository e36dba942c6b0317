// A local chain for development, the demo and tests: anvil with a network's chain id, and Circle's USDC at
// the network's pinned address. All other code runs unchanged against this chain or the public one.
import {
  Clock,
  Context,
  Duration,
  Effect,
  Layer,
  Redacted,
  Schedule,
  Schema,
  type Scope,
  Semaphore
} from "effect"
import {
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type HttpTransport,
  http,
  type PublicClient,
  type TestClient,
  toHex,
  type WalletClient
} from "viem"
import { type HDAccount, mnemonicToAccount } from "viem/accounts"
import { domainSeparator, domainSeparatorCall } from "../../chain/domainSeparator.ts"
import { Address, TransactionHash } from "../../domain/Chain.ts"
import { faucetNetwork, type Network } from "../../domain/networks.ts"
import { startAnvil } from "./Anvil.ts"
import { type LocalChainDied, LocalChainError } from "./LocalChainError.ts"
import { installUsdc, type NodeRpc, usdcAbi } from "./LocalUsdc.ts"

export interface LocalChainOptions {
  /** The network that the chain simulates. Default: the one with the faucet. */
  readonly network?: Network
  /** 0, the default, picks a free port. */
  readonly port?: number
  /** The variable to mention in the error if `port` is taken. */
  readonly portVariable?: string
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** Seconds between blocks; 0 mines each transaction at once. Below 1, blocks of one second share its time. Default 1. */
  readonly blockTimeSeconds?: number
  /** Set it if a chain of more than 500 blocks is reorganised: see `AnvilOptions`. */
  readonly statesInMemory?: number
}

// Public on purpose: these accounts hold value only on this chain.
export const developmentMnemonic = "test test test test test test test test test test test junk"
const ownerIndex = 0
const faucetIndex = 1
const faucetAtomicUsdc = 1_000_000_000_000n

type Client = PublicClient<HttpTransport, Chain>

const makeRpc =
  (client: Client): NodeRpc =>
  (method, params) =>
    Effect.tryPromise({
      try: () =>
        client.request<{ Method: string; Parameters: ReadonlyArray<unknown>; ReturnType: unknown }>({
          method,
          params
        }),
      catch: (cause) =>
        new LocalChainError({
          reason: "setup",
          message: `${method} on the local chain failed: ${cause instanceof Error ? cause.message.split("\n")[0] : "unknown"}`
        })
    })

const checkDomain = Effect.fn("LocalChain.checkDomain")(function* (rpc: NodeRpc, network: Network) {
  const { address } = network.usdc
  const separator = yield* rpc("eth_call", [{ to: address, data: domainSeparatorCall }, "latest"])
  if (separator !== domainSeparator(network)) {
    return yield* new LocalChainError({
      reason: "setup",
      message: `USDC on the local chain has another domain separator than on ${network.name}`
    })
  }
})

/** Anvil's interval is in whole seconds, and its blocks are a second apart. */
const mineFaster = Effect.fnUntraced(function* (rpc: NodeRpc, seconds: number) {
  yield* rpc("evm_setAutomine", [false])
  const mine = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* rpc("evm_setNextBlockTimestamp", [Math.floor(now / 1_000)])
    yield* rpc("evm_mine", [])
  })
  // `died` reports a chain that ended.
  yield* Effect.forkScoped(
    Effect.repeat(Effect.ignore(mine), Schedule.fixed(Duration.millis(seconds * 1_000)))
  )
})

const make = Effect.fn("LocalChain.make")(function* (
  options: LocalChainOptions
): Effect.fn.Return<typeof LocalChain.Service, LocalChainError, Scope.Scope> {
  const { network = faucetNetwork } = options
  const account = (index: number) => mnemonicToAccount(developmentMnemonic, { addressIndex: index })
  const { rpcUrl, died, kill } = yield* startAnvil({
    chainId: network.chainId,
    mnemonic: developmentMnemonic,
    port: options.port ?? 0,
    portVariable: options.portVariable ?? "LOCAL_CHAIN_PORT",
    host: options.host ?? "127.0.0.1",
    ...(options.statesInMemory === undefined ? {} : { statesInMemory: options.statesInMemory })
  })
  const chain = defineChain({
    id: network.chainId,
    name: `${network.name} (local)`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } }
  })
  const transport = http(rpcUrl, { retryCount: 0 })
  const publicClient: Client = createPublicClient({ chain, transport, pollingInterval: 100, cacheTime: 0 })
  const testClient = createTestClient({ chain, transport, mode: "anvil" })
  const rpc = makeRpc(publicClient)

  const owner = account(ownerIndex).address
  const faucet = account(faucetIndex)
  yield* installUsdc(rpc, network, owner, [
    { to: Address.make(faucet.address), atomicUsdc: faucetAtomicUsdc }
  ])
  yield* checkDomain(rpc, network)
  const blockTime = options.blockTimeSeconds ?? 1
  if (blockTime === 0) yield* rpc("evm_setAutomine", [true])
  else if (blockTime >= 1) yield* rpc("evm_setIntervalMining", [blockTime])
  else yield* mineFaster(rpc, blockTime)

  const awaitReceipt = (hash: TransactionHash) =>
    Effect.tryPromise({
      try: () => publicClient.waitForTransactionReceipt({ hash, timeout: 20_000 }),
      catch: () => new LocalChainError({ reason: "setup", message: "the local chain mined no block in 20 s" })
    })

  const oneAtATime = Semaphore.makeUnsafe(1).withPermit

  return {
    rpcUrl,
    chain,
    usdc: network.usdc.address,
    faucetPrivateKey: Redacted.make(toHex(faucet.getHdKey().privateKey ?? new Uint8Array())),
    mint: Effect.fn("LocalChain.mint")(function* (to, atomicUsdc) {
      const data = encodeFunctionData({ abi: usdcAbi, functionName: "mint", args: [to, atomicUsdc] })
      const response = yield* rpc("eth_sendTransaction", [{ from: owner, to: network.usdc.address, data }])
      const hash = yield* Schema.decodeUnknownEffect(TransactionHash)(response).pipe(
        Effect.mapError(() => new LocalChainError({ reason: "setup", message: "mint gave no hash" }))
      )
      yield* awaitReceipt(hash)
      return hash
    }),
    setEth: (address, wei) => Effect.asVoid(rpc("anvil_setBalance", [address, toHex(wei)])),
    account,
    walletClient: (index) => createWalletClient({ chain, transport, account: account(index) }),
    publicClient,
    testClient,
    rpc,
    mine: (blocks = 1) => oneAtATime(Effect.asVoid(rpc("anvil_mine", [toHex(blocks)]))),
    // A block mined during a reorganisation would lose the blocks below it (anvil 1.7.1), so mining stops first. The
    // pause lets a block finish that a transaction has begun.
    reorganise: (depth) =>
      oneAtATime(
        Effect.acquireUseRelease(
          Effect.tap(rpc("anvil_getAutomine", []), () => rpc("evm_setAutomine", [false])).pipe(
            Effect.tap(() => Effect.sleep("250 millis"))
          ),
          () => Effect.asVoid(rpc("anvil_reorg", [depth, []])),
          (wasAutomatic) => Effect.orDie(rpc("evm_setAutomine", [wasAutomatic === true]))
        )
      ),
    snapshot: Effect.map(rpc("evm_snapshot", []), String),
    restore: (snapshot) => Effect.asVoid(rpc("evm_revert", [snapshot])),
    kill,
    died
  }
})

/** A local EVM with the real USDC contract, which ends with its scope. Amounts are atomic USDC and wei. */
export class LocalChain extends Context.Service<
  LocalChain,
  {
    readonly rpcUrl: string
    readonly chain: Chain
    readonly usdc: Address
    /** The key of an account with 1,000,000 USDC and 10,000 ETH. */
    readonly faucetPrivateKey: Redacted.Redacted<`0x${string}`>
    /** Mints USDC and waits for its block. */
    readonly mint: (to: Address, atomicUsdc: bigint) => Effect.Effect<TransactionHash, LocalChainError>
    readonly setEth: (address: Address, wei: bigint) => Effect.Effect<void, LocalChainError>
    /** An account of the fixed development mnemonic: 0 owns the token, 1 is the faucet, 0 to 9 have ETH. */
    readonly account: (index: number) => HDAccount
    readonly walletClient: (index: number) => WalletClient<HttpTransport, Chain, HDAccount>
    readonly publicClient: Client
    readonly testClient: TestClient<"anvil", HttpTransport, Chain>
    /** Calls any JSON-RPC method of the node. */
    readonly rpc: NodeRpc
    readonly mine: (blocks?: number) => Effect.Effect<void, LocalChainError>
    /** Replaces the last `depth` blocks with others that lack their transactions. */
    readonly reorganise: (depth: number) => Effect.Effect<void, LocalChainError>
    readonly snapshot: Effect.Effect<string, LocalChainError>
    readonly restore: (snapshot: string) => Effect.Effect<void, LocalChainError>
    /** Kills anvil, as a crash would. */
    readonly kill: Effect.Effect<void>
    /** Fails when anvil ends; race the main effect against it. */
    readonly died: Effect.Effect<never, LocalChainDied>
  }
>()("quittance/app/LocalChain") {
  static readonly layer = (options: LocalChainOptions = {}): Layer.Layer<LocalChain, LocalChainError> =>
    Layer.effect(LocalChain, make(options))
}
