// Requests of x402 servers and clients to the service, in both versions.
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createWalletClient, erc20Abi, type Hex, http } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { domainOf } from "../../src/chain/domainSeparator.ts"
import { Address, type Env, TransactionHash } from "../../src/domain/Chain.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { authorizationAbi, authorizationTypes } from "../../src/x402/Authorization.ts"
import { isTrueWord, stateData } from "../../src/x402/AuthorizationChain/nodeAuthorization.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { type Answer, receiver, requirementsV1, requirementsV2, type X402World } from "./x402World.ts"

const usdc = moneyNetwork.usdc.address

export type Payload = Awaited<ReturnType<X402World["authorize"]>>

/** The body of `verify` and `settle` in version 2; `outer` extends the payment. */
export const bodyV2 = (
  payload: object,
  amount: bigint,
  changes: Readonly<Record<string, unknown>> = {},
  outer: object = {},
  env: Env = moneyNetwork.env
) => ({
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    resource: { url: "https://api.example.com/weather", description: "", mimeType: "" },
    accepted: requirementsV2(amount, {}, env),
    payload,
    ...outer
  },
  paymentRequirements: requirementsV2(amount, changes, env)
})

export const bodyV1 = (payload: object, amount: bigint, changes: Readonly<Record<string, unknown>> = {}) => ({
  x402Version: 1,
  paymentPayload: { x402Version: 1, scheme: "exact", network: "base-sepolia", payload },
  paymentRequirements: requirementsV1(amount, changes)
})

/** The versions in which the network has a name, the first one first. */
export const versions: ReadonlyArray<1 | 2> = moneyNetwork.x402[1] === undefined ? [2] : [1, 2]
export const [firstVersion = 2] = versions

/** The header that requests a payment's x402 address, in the first version that the network has. */
export const headerOf = (payload: Payload, amount?: bigint): Readonly<Record<string, string>> => {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64")
  if (firstVersion === 1)
    return {
      "x-payment": encoded({ x402Version: 1, scheme: "exact", network: moneyNetwork.x402[1], payload })
    }
  const { paymentPayload } = bodyV2(payload, amount ?? BigInt(payload.authorization["value"] ?? 0))
  return { "payment-signature": encoded(paymentPayload) }
}

/** The requirements of a 402, as an agent hands them in, in the first version that the network has. */
export const requiredBy = ({
  body,
  headers
}: Answer): { readonly x402Version: number; readonly accepts: ReadonlyArray<object> } =>
  firstVersion === 1
    ? { x402Version: 1, accepts: body.accepts as ReadonlyArray<object> }
    : JSON.parse(Buffer.from(headers.get("payment-required") ?? "", "base64").toString())

/** A pending payment of `usd`, opened from an intent. */
export const openPayment = async (
  world: X402World,
  usd: string,
  env: Env = moneyNetwork.env
): Promise<string> => {
  const { body } = await world.call("POST", "/payment-intents", world.keys[env].secret, {
    amount: usd,
    intentUrl: "https://shop.example.com/order/1"
  })
  const opened = await world.call("POST", "/payments", world.keys[env].publishable, {
    intentToken: body.intentToken
  })
  return opened.body.payment.id
}

export const payPath = (world: X402World, id: string, env: Env = moneyNetwork.env) =>
  `/payments/${id}/x402?pk=${world.keys[env].publishable}`

/** A limit in wei that allows some payments by signature, but not thirty. */
export const someRelayedWei = 1_500_000_000_000_000n + moneyNetwork.postingGas * 4_000_000_000n

/** Repeats until the condition holds, for this long plus the time that an idle reader may take. */
export const until = async (condition: () => Promise<boolean>, millis = 40_000) => {
  const end = Date.now() + millis + moneyNetwork.pollMillis.idle
  while (Date.now() < end) {
    if (await condition()) return
    await Bun.sleep(100)
  }
  throw new Error("the condition did not come true in time")
}

/** Waits until a nonce is used, and mines this many blocks after it, so that no reorganisation undoes it. */
export const outlastSpending = async (
  world: X402World,
  { from, nonce }: { readonly from: string; readonly nonce: Hex }
): Promise<void> => {
  const data = stateData(Address.make(from), nonce)
  await until(async () =>
    isTrueWord(String(await Effect.runPromise(world.chain.rpc("eth_call", [{ to: usdc, data }, "latest"]))))
  )
  await Effect.runPromise(world.chain.mine(20_000 / moneyNetwork.blockMillis))
}

/** A plain transfer of the account, mined. */
export const transfer = async (
  world: X402World,
  account: PrivateKeyAccount,
  atomic: bigint,
  to: string = receiver
): Promise<Hex> => {
  await Effect.runPromise(world.chain.setEth(Address.make(account.address), 10n ** 18n))
  const wallet = createWalletClient({
    account,
    chain: world.chain.chain,
    transport: http(world.chain.rpcUrl)
  })
  const hash = await wallet.writeContract({
    address: usdc,
    abi: erc20Abi,
    functionName: "transfer",
    args: [Address.make(to), atomic]
  })
  await world.chain.publicClient.waitForTransactionReceipt({ hash })
  return hash
}

/** Reports a transfer like a checkout. */
export const report = async (
  world: X402World,
  id: string,
  account: PrivateKeyAccount,
  atomic: bigint,
  transactionId: Hex
) => {
  const buyerDidToken = await createDidToken(account, {
    audience: world.baseUrl,
    lifetimeSeconds: 900,
    now: Math.floor(Date.now() / 1000),
    id
  })
  const change = {
    amountAtomic: atomic.toString(),
    chainId: moneyNetwork.chainId,
    receiver,
    tokenAddress: usdc
  }
  return world.call("PATCH", `/payments/${id}`, world.keys[world.env].publishable, {
    buyerDidToken,
    transactionId,
    tokenChanges: [change]
  })
}

/** Rows of the world's database. */
export const rowsOf = (world: X402World, query: string): Promise<ReadonlyArray<Record<string, unknown>>> =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Record<string, unknown>>(query)).pipe(
      Effect.provideContext(world.context)
    )
  )

/** The number of transactions that the service has broadcast to its node. */
export const broadcasts = (world: X402World) =>
  world.node.calls.filter((method) => method === "eth_sendRawTransaction").length

/** Somebody else submits an authorization to the chain. */
export const relayElsewhere = async (
  world: X402World,
  { signature, authorization }: Payload
): Promise<Hex> => {
  const hash = await world.chain.walletClient(5).writeContract({
    address: usdc,
    abi: authorizationAbi,
    functionName: "transferWithAuthorization",
    args: [
      Address.make(authorization["from"] ?? ""),
      Address.make(authorization["to"] ?? ""),
      BigInt(authorization["value"] ?? 0),
      BigInt(authorization["validAfter"] ?? 0),
      BigInt(authorization["validBefore"] ?? 0),
      TransactionHash.make(authorization["nonce"] ?? ""),
      signature
    ]
  })
  await world.chain.publicClient.waitForTransactionReceipt({ hash })
  return hash
}

/** The payer cancels an authorization. */
export const cancel = async (world: X402World, account: PrivateKeyAccount, { authorization }: Payload) => {
  const nonce = TransactionHash.make(authorization["nonce"] ?? "")
  const signature = await account.signTypedData({
    domain: domainOf(moneyNetwork),
    types: { CancelAuthorization: authorizationTypes.CancelAuthorization },
    primaryType: "CancelAuthorization",
    message: { authorizer: account.address, nonce }
  })
  const hash = await world.chain.walletClient(5).writeContract({
    address: usdc,
    abi: authorizationAbi,
    functionName: "cancelAuthorization",
    args: [account.address, nonce, signature]
  })
  await world.chain.publicClient.waitForTransactionReceipt({ hash })
}

/** True if a signed transaction that is sent to a node contains this authorization. */
export const carries = (
  method: string,
  params: ReadonlyArray<unknown>,
  { authorization }: { readonly authorization: Readonly<Record<string, string>> }
) =>
  method === "eth_sendRawTransaction" && String(params[0]).includes((authorization["nonce"] ?? "?").slice(2))
