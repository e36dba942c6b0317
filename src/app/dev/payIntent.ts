// Pays one intent on the local chain: the merchant's server creates it, a new buyer opens, pays and reports
// it, and the service proves and settles it.
import { Clock, Effect, Schedule, Schema } from "effect"
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  erc20Abi,
  http,
  parseAbi,
  publicActions,
  walletActions
} from "viem"
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from "viem/accounts"
import { UsdAmount } from "../../domain/Money.ts"
import { faucetNetwork } from "../../domain/networks.ts"
import { createDidToken } from "../../payments/buyers/createDidToken.ts"
import { developmentMnemonic } from "./LocalChain.ts"
import { CreatedIntent, fail, makeApi, Opened, type StepFailed } from "./merchantApi.ts"

export interface PayIntent {
  /** Origin of the service. */
  readonly baseUrl: string
  readonly secretKey: string
  readonly publishableKey: string
  /** Decimal USD. */
  readonly amount: string
  /** Called for each step, with its result. */
  readonly onStep: (title: string, result: string) => Effect.Effect<void>
}

const ChainContext = Schema.Struct({
  audience: Schema.String,
  tokenLifetimeSeconds: Schema.Int,
  chain: Schema.Struct({ rpcUrl: Schema.optionalKey(Schema.String) })
})
const mintAbi = parseAbi(["function mint(address to, uint256 value) returns (bool)"])
const { usdc, chainId } = faucetNetwork
const gasWei = 10n ** 17n

const attempt = <A>(what: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (error) =>
      fail(`${what} failed: ${error instanceof Error ? error.message.split("\n")[0] : "unknown"}`)
  })

/** A buyer with the amount and gas, which only a development node gives out. */
const fundedBuyer = Effect.fnUntraced(function* (rpcUrl: string, atomic: bigint) {
  const chain = defineChain({
    id: chainId,
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } }
  })
  const node = createTestClient({ chain, transport: http(rpcUrl), mode: "anvil" })
    .extend(publicActions)
    .extend(walletActions)
  const version = yield* attempt("Asking the chain's node", () =>
    createPublicClient({ transport: http(rpcUrl) }).request({ method: "web3_clientVersion" })
  )
  if (!/^anvil/i.test(version)) {
    return yield* fail(
      "This command pays only on the local chain. Start the chain with `bun run chain`, and the service on it."
    )
  }
  const buyer = privateKeyToAccount(generatePrivateKey())
  const owner = mnemonicToAccount(developmentMnemonic)
  yield* attempt("Funding the buyer", async () => {
    await node.setBalance({ address: buyer.address, value: gasWei })
    const hash = await node.sendTransaction({
      account: owner.address,
      to: usdc.address,
      data: encodeFunctionData({ abi: mintAbi, functionName: "mint", args: [buyer.address, atomic] })
    })
    await node.waitForTransactionReceipt({ hash, timeout: 20_000, pollingInterval: 100 })
  }).pipe(
    // Concurrent funding may use the same nonce, so it is retried.
    Effect.retry({ schedule: Schedule.spaced("300 millis"), times: 10 })
  )
  return { buyer, wallet: createWalletClient({ account: buyer, chain, transport: http(rpcUrl) }) }
})

/** Needs a service in development, whose checkout context contains the chain's node. */
export const payIntent = Effect.fn("payIntent")(function* ({
  baseUrl,
  secretKey,
  publishableKey,
  amount,
  onStep
}: PayIntent): Effect.fn.Return<
  { readonly paymentId: string; readonly refCode: string; readonly transactionId: string },
  StepFailed
> {
  const api = makeApi(baseUrl)
  const atomic = yield* Schema.decodeUnknownEffect(UsdAmount)(amount).pipe(
    Effect.mapError(() => fail("The amount must be decimal USD, such as 10.00."))
  )
  if (/^[a-z]+_live_/.test(secretKey) || /^[a-z]+_live_/.test(publishableKey))
    return yield* fail("This command pays only with test keys.")
  const { audience, chain, tokenLifetimeSeconds } = (yield* api(
    "GET",
    "/api/v1/checkout-context",
    publishableKey,
    undefined,
    ChainContext,
    [200]
  )).body
  const { rpcUrl } = chain
  if (rpcUrl === undefined)
    return yield* fail("The service runs in production and reports no chain node, so the command cannot pay.")

  const intent = yield* api(
    "POST",
    "/api/v1/payment-intents",
    secretKey,
    { amount, intentUrl: `${baseUrl.replace("127.0.0.1", "localhost")}/playground` },
    CreatedIntent,
    [201]
  )
  yield* onStep("Payment intent", `$${intent.body.intent.amount}, signed`)
  const { intentToken } = intent.body
  const opened = (yield* api("POST", "/api/v1/payments", publishableKey, { intentToken }, Opened, [201])).body
    .payment
  yield* onStep("Payment", `${opened.refCode} is ${opened.status}`)

  const { buyer, wallet } = yield* fundedBuyer(rpcUrl, atomic)
  yield* onStep("Buyer", `${buyer.address} holds $${intent.body.intent.amount} in USDC`)
  const transactionId = yield* attempt("The transfer", () =>
    wallet.writeContract({
      address: usdc.address,
      abi: erc20Abi,
      functionName: "transfer",
      args: [intent.body.intent.receiver, atomic]
    })
  )
  yield* onStep("Transfer", transactionId)

  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const buyerDidToken = yield* attempt("The buyer's identity", () =>
    createDidToken(buyer, {
      audience,
      lifetimeSeconds: Math.min(900, tokenLifetimeSeconds),
      now,
      id: opened.id
    })
  )
  const { receiver } = intent.body.intent
  const change = { amountAtomic: String(atomic), chainId, receiver, tokenAddress: usdc.address }
  yield* api(
    "PATCH",
    `/api/v1/payments/${opened.id}`,
    publishableKey,
    { buyerDidToken, transactionId, tokenChanges: [change] },
    Opened,
    [200, 202]
  ).pipe(
    Effect.repeat({ schedule: Schedule.spaced("250 millis"), until: ({ status }) => status === 200 }),
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () =>
        Effect.fail(fail("The transfer was not confirmed within 30 seconds; the service keeps checking."))
    })
  )
  yield* onStep("Settlement", "verified on the chain: settled")
  return { paymentId: opened.id, refCode: opened.refCode, transactionId }
})
