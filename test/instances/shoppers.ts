// Buyers who pay through the balancer until they are stopped, and the outcome of each request. A failed request is
// repeated, as a browser would.

import type { Account, Chain, HttpTransport, WalletClient } from "viem"
import { erc20Abi } from "viem"
import { Address } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import type { AnswerBody } from "../support/AnswerBody.ts"

export interface Shopper {
  readonly wallet: WalletClient<
    HttpTransport,
    Chain,
    Account & { signMessage: (one: { readonly message: string }) => Promise<string> }
  >
}

export interface Tally {
  requests: number
  /** Requests whose connection broke, with the time. */
  readonly broken: Array<{ readonly at: number; readonly what: string }>
  /** Answers that no request should get. */
  readonly wrong: Array<string>
  readonly settled: Array<{ readonly id: string; readonly transactionId: string }>
}

const { usdc, chainId } = networks.test
const amountAtomic = "1000000"

export const newTally = (): Tally => ({ requests: 0, broken: [], wrong: [], settled: [] })

export const shop = async (options: {
  readonly baseUrl: string
  readonly keys: { readonly secret: string; readonly publishable: string }
  readonly wallet: Shopper["wallet"]
  readonly tally: Tally
  readonly going: () => boolean
}): Promise<void> => {
  const { baseUrl, keys, wallet, tally, going } = options

  const ask = async (
    method: string,
    path: string,
    key: string,
    body?: unknown
  ): Promise<{ status: number; body: AnswerBody }> => {
    for (let tries = 0; tries < 50; tries++) {
      tally.requests += 1
      try {
        const answer = await fetch(`${baseUrl}${path}`, {
          method,
          keepalive: false,
          headers: {
            authorization: `Bearer ${key}`,
            "content-type": "application/json",
            connection: "close"
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(20_000)
        })
        const text = await answer.text()
        if (answer.status >= 400) tally.wrong.push(`${method} ${path}: ${answer.status} ${text.slice(-300)}`)
        return { status: answer.status, body: JSON.parse(text) }
      } catch (error) {
        tally.broken.push({ at: performance.now(), what: `${method} ${path}: ${String(error)}` })
        await Bun.sleep(20)
      }
    }
    throw new Error(`${method} ${path} failed 50 times`)
  }

  while (going()) {
    const intent = await ask("POST", "/api/v1/payment-intents", keys.secret, {
      amount: "1.00",
      intentUrl: "https://shop.example.com/orders/1"
    })
    const { intentToken, intent: made } = intent.body
    const opened = await ask("POST", "/api/v1/payments", keys.publishable, { intentToken })
    // 200 if the instance was killed between its commit and its response.
    if (opened.status !== 201 && opened.status !== 200)
      throw new Error(`opening got ${opened.status}: ${JSON.stringify(opened.body)}`)
    const { id } = opened.body.payment
    const transactionId = await wallet.writeContract({
      address: usdc.address,
      abi: erc20Abi,
      functionName: "transfer",
      args: [Address.make(made.receiver), BigInt(amountAtomic)]
    })
    const buyerDidToken = await createDidToken(wallet.account, {
      audience: baseUrl,
      lifetimeSeconds: 900,
      now: Math.floor(Date.now() / 1000)
    })
    const change = { amountAtomic, chainId, receiver: made.receiver, tokenAddress: usdc.address }
    const report = () =>
      ask("PATCH", `/api/v1/payments/${id}`, keys.publishable, {
        buyerDidToken,
        transactionId,
        tokenChanges: [change]
      })
    let reported = await report()
    while (reported.status === 202) {
      await Bun.sleep(100)
      reported = await report()
    }
    if (reported.status === 200) tally.settled.push({ id, transactionId })
    const found = await ask("GET", `/api/v1/payments/${id}`, keys.secret)
    if (found.body.payment?.status !== "settled")
      tally.wrong.push(`${id} reads ${JSON.stringify(found.body)}`)
    await ask("GET", "/api/v1/payments?limit=5", keys.secret)
  }
}
