// One service with both networks open, and one merchant on both: the same receiving address, the same buyer, equal
// amounts. `sideOf` makes one record of each kind that has an id, for tests that request it on the other network.
import { Effect } from "effect"
import { createWalletClient, erc20Abi, type Hex, http } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { Address, type Env, TransactionHash } from "../../src/domain/Chain.ts"
import { byEnv, envs, networks } from "../../src/domain/networks.ts"
import type { WebhookBody } from "../../src/domain/Webhook.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import type { Environment } from "../../src/platform/AppConfig.ts"
import { agentForm, signUp } from "../dashboard/person.ts"
import { forFile } from "../support/forFile.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { listening } from "../support/listening.ts"
import { rowsOf, until } from "../x402/payloads.ts"
import { bothNetworksWorld, requirementsV2 } from "../x402/x402World.ts"

export const otherOf = (env: Env): Env => (env === "test" ? "live" : "test")
const intentUrl = "https://shop.example.com/orders/1042"

export type Side = Awaited<ReturnType<Awaited<ReturnType<typeof wallsWorld>>["sideOf"]>>

export const wallsWorld = async (environment: Environment = {}) => {
  const delivered = byEnv((): Array<typeof WebhookBody.Type> => [])
  const server = await forFile(
    listening(async (request) => {
      const env = new URL(request.url).pathname === "/live" ? "live" : "test"
      delivered[env].push(await request.json())
      return new Response(null, { status: 204 })
    })
  )
  const world = await bothNetworksWorld({
    WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${server.port}`,
    ...environment
  })
  const person = await signUp(world.baseUrl, freshAddress())
  const { keys, receiver } = person
  const buyer = privateKeyToAccount(generatePrivateKey())

  const rows = (query: string) => rowsOf(world, query)
  const onPage = (env: Env, method: string, path: string, body?: unknown) =>
    person.call(method, `/merchants/${person.merchantId}/${env}${path}`, body)
  const fund = async (env: Env, account: { readonly address: Hex }, usdc: bigint) => {
    const address = Address.make(account.address)
    await Effect.runPromise(world.chainOf(env).setEth(address, 10n ** 18n))
    await Effect.runPromise(world.chainOf(env).mint(address, usdc))
  }
  for (const env of envs) {
    await fund(env, buyer, 1_000_000_000n)
    await Effect.runPromise(world.chainOf(env).setEth(receiver, 10n ** 18n))
    await Effect.runPromise(world.chainOf(env).rpc("anvil_impersonateAccount", [receiver]))
    await world.call("POST", "/webhook-endpoint", keys[env].secret, {
      url: `http://127.0.0.1:${server.port}/${env}`
    })
  }

  const mined = async (env: Env, hash: Hex) => {
    await world.chainOf(env).publicClient.waitForTransactionReceipt({ hash })
    return TransactionHash.make(hash)
  }
  const transfer = (env: Env, from: PrivateKeyAccount | Address, to: Hex, atomic: bigint) => {
    const { chain, rpcUrl } = world.chainOf(env)
    return createWalletClient({ account: from, chain, transport: http(rpcUrl) })
      .writeContract({
        address: networks[env].usdc.address,
        abi: erc20Abi,
        functionName: "transfer",
        args: [to, atomic]
      })
      .then((hash) => mined(env, hash))
  }
  const open = async (env: Env, amount: string) => {
    const { body } = await world.call("POST", "/payment-intents", keys[env].secret, { amount, intentUrl })
    return (await world.call("POST", "/payments", keys[env].publishable, { intentToken: body.intentToken }))
      .body
  }
  const tokenFor = (paymentId: string, account = buyer) =>
    createDidToken(account, {
      audience: world.baseUrl,
      lifetimeSeconds: 900,
      now: Math.floor(Date.now() / 1000),
      id: paymentId
    })
  const evidence = async (env: Env, id: string, transactionId: Hex, atomic: bigint, account = buyer) => ({
    buyerDidToken: await tokenFor(id, account),
    transactionId,
    tokenChanges: [
      {
        amountAtomic: atomic.toString(),
        chainId: networks[env].chainId,
        receiver,
        tokenAddress: networks[env].usdc.address
      }
    ]
  })
  const report = async (env: Env, id: string, transactionId: Hex, atomic: bigint, account = buyer) =>
    world.call(
      "PATCH",
      `/payments/${id}`,
      keys[env].publishable,
      await evidence(env, id, transactionId, atomic, account)
    )
  const payment = async (env: Env, id: string) =>
    (await world.call("GET", `/payments/${id}`, keys[env].secret)).body.payment
  const settled = (env: Env, id: string, millis?: number) =>
    until(async () => (await payment(env, id)).status === "settled", millis)

  /** A settled payment of this amount, and its transaction. */
  const paid = async (env: Env, atomic: bigint) => {
    const { payment } = await open(env, (Number(atomic) / 1e6).toFixed(2))
    const hash = await transfer(env, buyer, receiver, atomic)
    await until(async () => (await report(env, payment.id, hash, atomic)).status === 200)
    return { id: payment.id, hash }
  }
  const agentOf = async (env: Env) => {
    const { body } = await onPage(env, "POST", "/agents", agentForm)
    await fund(env, { address: Address.make(body.agent.address) }, 10_000_000n)
    return { agent: body.agent, key: body.key }
  }

  /** One record of each kind, with amounts that both networks have. */
  const sideOf = async (env: Env) => {
    const secret = keys[env].secret
    const intent = await world.call("POST", "/payment-intents", secret, { amount: "4.00", intentUrl })
    const pending = await open(env, "3.00")
    const announced = await world.call(
      "POST",
      `/payments/${pending.payment.id}/attempts`,
      keys[env].publishable,
      { buyerDidToken: await tokenFor(pending.payment.id), method: "transfer" }
    )
    const settledPayment = await paid(env, 2_000_000n)
    const receipt = await world.call("POST", `/payments/${settledPayment.id}/receipt`, keys[env].publishable)
    const refund = await world.call("POST", "/refunds", secret, {
      paymentId: settledPayment.id,
      amount: "0.50"
    })
    const link = await world.call("POST", "/payment-links", secret, { amount: "6.00", description: "Lesson" })
    const opened = await world.call("POST", `/links/${link.body.link.id}`, undefined, {})
    const linkPayment = await world.call("POST", "/payments", keys[env].publishable, {
      intentToken: opened.body.intentToken
    })
    // A transfer that belongs to no payment.
    const stranger = privateKeyToAccount(generatePrivateKey())
    await fund(env, stranger, 7_000_000n)
    const strange = await transfer(env, stranger, receiver, 7_000_000n)
    const likely = await open(env, "7.00")
    const short = await open(env, "9.00")
    const { agent, key } = await agentOf(env)
    const signed = await world.call("POST", "/agent/x402/payments", key, {
      requestId: crypto.randomUUID(),
      resource: "https://api.example.com/weather",
      paymentRequired: {
        x402Version: 2,
        accepts: [requirementsV2(1_500_000n, { maxTimeoutSeconds: 600 }, env)]
      }
    })
    const hook = await onPage(env, "POST", "/notification-preferences/hooks", {
      shape: "slack",
      url: `http://127.0.0.1:${server.port}/hook`
    })
    const alertId = crypto.randomUUID()
    await rows(
      `INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
        VALUES ('${alertId}', '${person.merchantId}', '${env}', 'refund_unproven', '${alertId}', 'Look', now())`
    )
    const of = `env = '${env}' AND merchant_id = '${person.merchantId}'`
    const id = async (query: string) => {
      await until(async () => (await rows(query)).length > 0, 60_000)
      return String((await rows(query))[0]?.["id"])
    }
    return {
      intentToken: intent.body.intentToken,
      pending: pending.payment.id,
      resumeCode: pending.resumeCode,
      attempt: announced.body.attempt.id,
      settled: settledPayment.id,
      hash: settledPayment.hash,
      receipt: receipt.body.url.split("/").at(-1) ?? "",
      refund: refund.body.refund.id,
      link: link.body.link.id,
      linkPayment: linkPayment.body.payment.id,
      likely: likely.payment.id,
      short: short.payment.id,
      strange,
      agent: agent.id,
      agentKey: key,
      agentPayment: signed.body.agentPayment.id,
      hook: hook.body.id,
      alert: alertId,
      key: await id(`SELECT id FROM api_keys WHERE ${of} AND kind = 'secret' AND revoked_at IS NULL`),
      event: await id(`SELECT id FROM webhook_deliveries WHERE ${of} AND status = 'delivered'`),
      transfer: await id(`SELECT id FROM incoming_transfers WHERE ${of} AND kind IS NOT NULL`)
    }
  }

  return {
    ...{ world, person, keys, receiver, buyer, delivered, rows, onPage, fund, mined, transfer, open },
    ...{ tokenFor, evidence, report, payment, settled, paid, agentOf, sideOf }
  }
}
