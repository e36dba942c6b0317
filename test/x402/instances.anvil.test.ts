// Two instances on one Postgres: whatever coincides, a settlement is relayed once and its success is returned once.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Layer, Scope } from "effect"
import { ChainHeights } from "../../src/chain/ChainHeights.ts"
import { Address } from "../../src/domain/Chain.ts"
import type { IncomingTransferExplained } from "../../src/domain/Errors.ts"
import { PaymentId } from "../../src/domain/Payment.ts"
import { IncomingTransfers } from "../../src/payments/IncomingTransfers.ts"
import { Payments } from "../../src/payments/Payments.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { forFile } from "../support/forFile.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { ownDatabase } from "../support/ownDatabase.ts"
import { spawnService, untilReady } from "../support/process.ts"
import { rpcProxy } from "../support/rpcProxy.ts"
import {
  bodyV2,
  broadcasts,
  headerOf,
  openPayment,
  payPath,
  relayElsewhere,
  report,
  rowsOf,
  transfer,
  until
} from "./payloads.ts"
import { payBySignature, signTerms } from "./relaying/signed.ts"
import { leastNodes, receiver, settingsOf, together, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 1_000_000n

const environment = {
  DATABASE_URL: await forFile(ownDatabase()),
  INTENT_TOKEN_SECRETS: `test:${"s".repeat(40)}`,
  ENCRYPTION_KEYS: `test:${Buffer.alloc(32, 7).toString("base64")}`
}
const world = await x402World(environment)
const urls = [world.baseUrl, await world.another()]

describe("two instances", () => {
  const at = (index: number) => urls[index % urls.length] ?? ""
  const settleAt = async (index: number, body: unknown) => {
    const response = await fetch(`${at(index)}/api/v1/x402/settle`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.keys[world.env].secret}`,
        "content-type": "application/json"
      },
      body: JSON.stringify(body)
    })
    return response.json()
  }
  const relayedOf = (payer: string) =>
    rowsOf(
      world,
      `SELECT t.outcome FROM wallet_transactions t JOIN x402_settlements s ON s.id = t.reference
       WHERE s.payer = '\\x${payer.slice(2)}'`
    )

  test("one authorization, sent forty times to both: one transaction, one success", async () => {
    const account = await world.payer()
    const body = bodyV2(await world.authorize(account, amount), amount)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => settleAt(index, body)))
    // On a slow machine every caller was told that it is pending: the next one gets the success.
    for (let more = 0; more < 100 && !answers.some(({ success }) => success); more++) {
      await Bun.sleep(200)
      answers.push(await settleAt(more, body))
    }
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await relayedOf(account.address)).toEqual([{ outcome: "moved" }])
  }, 180_000)

  test("twenty payers at both: each nonce of the relayer wallet is used once, each payer pays once", async () => {
    const accounts = await Array.fromAsync({ length: 20 }, () => world.payer())
    const before = await world.balanceOf(receiver)
    const answers = await Promise.all(
      accounts.map(async (account, index) => {
        const body = bodyV2(await world.authorize(account, amount), amount)
        let answer = await settleAt(index, body)
        for (let more = 0; more < 100 && answer.errorReason === "settlement_pending"; more++) {
          await Bun.sleep(200)
          answer = await settleAt(index, body)
        }
        return answer
      })
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(20)
    expect(await world.balanceOf(receiver)).toBe(before + 20n * amount)
  }, 180_000)

  for (let round = 0; round < 6; round++) {
    test(`headers at both and a transfer, all at once, round ${round}: money pays the payment once, or is listed as a second`, async () => {
      const id = await openPayment(world, "1")
      const before = await world.balanceOf(receiver)
      const buyer = await world.payer()
      const payers = await Array.fromAsync({ length: 4 }, () => world.payer())
      const headers = await Promise.all(
        payers.map(async (account) => headerOf(await world.authorize(account, amount)))
      )
      await Promise.all([
        ...headers.map((header, index) =>
          fetch(`${at(index)}/api/v1${payPath(world, id)}`, { headers: header })
        ),
        Bun.sleep(round * 40).then(async () =>
          report(world, id, buyer, amount, await transfer(world, buyer, amount))
        )
      ])
      await until(
        async () =>
          (
            await rowsOf(
              world,
              `SELECT 1 FROM x402_settlements s JOIN wallet_transactions t ON t.reference = s.id
               WHERE s.payment_id = '${id}' AND t.ended_at IS NULL`
            )
          ).length === 0,
        40_000
      )
      await until(async () => (await statusOf(id)) === "settled", 40_000)
      await until(async () => {
        const [open] = await rowsOf(
          world,
          `SELECT 1 FROM x402_settlements s JOIN wallet_transactions t ON t.reference = s.id
           WHERE s.payment_id = '${id}' AND t.outcome = 'moved' AND s.status = 'pending'`
        )
        return open === undefined
      }, 40_000)
      // At most one authorization was relayed; none if the transfer came first.
      const moved = await rowsOf(
        world,
        `SELECT s.status, s.error_reason FROM x402_settlements s JOIN wallet_transactions t ON t.reference = s.id
         WHERE s.payment_id = '${id}' AND t.outcome = 'moved'`
      )
      expect(moved.length).toBeLessThanOrEqual(1)
      expect(await world.balanceOf(receiver)).toBe(before + amount + BigInt(moved.length) * amount)
      for (const one of moved) {
        expect(["settled null", "failed payment_already_settled"]).toContain(
          `${String(one["status"])} ${String(one["error_reason"])}`
        )
      }
    }, 180_000)
  }

  const statusOf = async (id: string) =>
    (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status

  for (const held of ["eth_estimateGas", "eth_sendRawTransaction"]) {
    test(`kill -9 while a signature waits for ${held}: another process settles it, once`, async () => {
      const inside = Effect.runSync(Scope.make())
      const within = <A>(effect: Effect.Effect<A, unknown, Scope.Scope>) =>
        Effect.runPromise(Effect.orDie(Scope.provide(effect, inside)))
      try {
        const nodes = await Promise.all(
          Array.from({ length: leastNodes(moneyNetwork) }, () => within(rpcProxy(world.chain.rpcUrl)))
        )
        const service = await within(
          spawnService({
            ...environment,
            BASE_URL: world.baseUrl,
            ...settingsOf(moneyNetwork, nodes),
            TESTNET_CONFIRMATIONS: "0"
          })
        )
        await within(untilReady(service))
        const id = await openPayment(world, "1")
        const buyer = await world.payer(amount)
        const signed = await signTerms(world, id, buyer)
        let asked = false
        const isRegistered = async () =>
          (await rowsOf(world, `SELECT 1 FROM x402_settlements WHERE payment_id = '${id}'`)).length > 0
        together(nodes).behave(async (method) => {
          if (method !== held || !(await isRegistered())) return undefined
          asked = true
          return new Promise(() => {})
        })
        const { payload: _, ...body } = signed
        const answer = fetch(`${service.baseUrl}/api/v1/payments/${id}/authorization`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${world.keys[world.env].publishable}`,
            "content-type": "application/json"
          },
          body: JSON.stringify(body)
        }).catch(() => undefined)
        await until(async () => asked)
        await Effect.runPromise(service.kill("SIGKILL"))
        await Effect.runPromise(service.exited)
        await answer
        const stored = await rowsOf(
          world,
          `SELECT (SELECT count(*)::int FROM wallet_transactions t WHERE t.reference = s.id) AS signed
           FROM x402_settlements s WHERE payment_id = '${id}' AND payer_type = 'human'`
        )
        expect(stored).toEqual([{ signed: held === "eth_sendRawTransaction" ? 1 : 0 }])
        // The dead request would be followed up after 20 seconds, its signed transaction sent again after 5.
        await rowsOf(world, `UPDATE x402_settlements SET next_look_at = now() WHERE payment_id = '${id}'`)
        await rowsOf(
          world,
          `UPDATE wallet_transactions SET signed_at = signed_at - interval '6 seconds' WHERE ended_at IS NULL`
        )
        await until(async () => (await statusOf(id)) === "settled", 40_000)
        expect(await world.balanceOf(buyer.address)).toBe(0n)
        expect((await payBySignature(world, id, signed)).body.payment.payerAddress).toBe(buyer.address)
      } finally {
        await Effect.runPromise(Scope.close(inside, Exit.void))
      }
    })
  }

  test("a link that is paid once, opened at both instances forty times: one payment", async () => {
    const made = await world.call("POST", "/payment-links", world.keys[world.env].secret, {
      description: "Chess lesson",
      amount: "1.00",
      once: true
    })
    /** Sends again after 503: the row is locked by the others, and on a slow machine for too long. */
    const post = async (url: string, body: object, headers: Record<string, string> = {}) => {
      for (;;) {
        const answer = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body)
        })
        if (answer.status !== 503) return answer.json()
        await Bun.sleep(200)
      }
    }
    const authorization = `Bearer ${world.keys[world.env].publishable}`
    const ids = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { intentToken } = await post(`${at(index)}/api/v1/links/${made.body.link.id}`, {})
        const opened = await post(`${at(index + 1)}/api/v1/payments`, { intentToken }, { authorization })
        return opened.payment.id
      })
    )
    expect(new Set(ids).size).toBe(1)
  })

  test("a link's payment that somebody tried to pay is not replaced after it failed", async () => {
    const made = await world.call("POST", "/payment-links", world.keys[world.env].secret, {
      description: "Chess lesson",
      amount: "1.00",
      once: true
    })
    const open = () => world.call("POST", `/links/${made.body.link.id}`, undefined, {})
    const paymentOf = async () => {
      const { intentToken } = (await open()).body
      return (await world.call("POST", "/payments", world.keys[world.env].publishable, { intentToken })).body
        .payment.id
    }
    const fail = (id: string) =>
      rowsOf(
        world,
        `UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired' WHERE id = '${id}'`
      )
    const first = await paymentOf()
    await fail(first)
    const second = await paymentOf()
    expect(second).not.toBe(first)
    // Announced, and never heard of again: its transfer may still arrive.
    await rowsOf(
      world,
      `INSERT INTO payment_attempts (id, payment_id, payer_address, method, block_number, announced_at, closed_at, closed_reason)
       VALUES (gen_random_uuid(), '${second}', '\\x${"12".repeat(20)}', 'transfer', 1, now(), now(), 'expired')`
    )
    await fail(second)
    const read = await world.call("GET", `/links/${made.body.link.id}`, undefined)
    expect(read.body.link.state).toBe("expired")
    const refused = await open()
    expect([refused.status, refused.body.error.code, refused.body.error.reason]).toEqual([
      409,
      "PAYMENT_LINK_CLOSED",
      "expired"
    ])
  })

  describe("a transfer that a person attaches", () => {
    const attach = (transferId: string, id: string) =>
      Effect.runPromise(
        Effect.flatMap(IncomingTransfers, (transfers) =>
          transfers.attach({ merchantId: world.merchantId, env: world.env }, transferId, PaymentId.make(id), {
            person: "anna@example.com",
            note: null
          })
        ).pipe(
          Effect.map(({ status }) => status as string),
          Effect.catch((error) =>
            Effect.succeed(
              "reason" in error ? String(error.reason) : (error as IncomingTransferExplained)._tag
            )
          ),
          Effect.provide(
            IncomingTransfers.layer.pipe(
              Layer.provide(Payments.layer),
              Layer.provide(ChainHeights.layer),
              Layer.provide(AppConfig.layer({ ...environment, BASE_URL: world.baseUrl }))
            )
          ),
          Effect.provideContext(world.context)
        )
      )
    /** A stranger's transfer of the amount, once it waits for a person. */
    const strangers = async () => {
      const stranger = await world.payer(amount)
      await transfer(world, stranger, amount)
      let id = ""
      await until(async () => {
        const [row] = await rowsOf(
          world,
          `SELECT id FROM incoming_transfers WHERE payer = '\\x${stranger.address.slice(2)}' AND kind IS NOT NULL`
        )
        id = String(row?.["id"] ?? "")
        return id !== ""
      })
      return id
    }

    test("is refused while a signature for the payment is on its way", async () => {
      const transferId = await strangers()
      const id = await openPayment(world, "1")
      const buyer = await world.payer(amount)
      const signed = await signTerms(world, id, buyer)
      await Effect.runPromise(world.chain.rpc("evm_setAutomine", [false]))
      const answer = payBySignature(world, id, signed)
      await until(
        async () =>
          broadcasts(world) > 0 &&
          (
            await rowsOf(
              world,
              `SELECT 1 FROM wallet_transactions t
        JOIN x402_settlements s ON s.id = t.reference WHERE s.payment_id = '${id}'`
            )
          ).length > 0
      )
      expect(await attach(transferId, id)).toBe("settling")
      await Effect.runPromise(world.chain.rpc("evm_setAutomine", [true]))
      await Effect.runPromise(world.chain.mine(1))
      await answer
      await until(async () => (await payBySignature(world, id, signed)).body.payment?.status === "settled")
      expect((await payBySignature(world, id, signed)).body.payment).toMatchObject({
        payerAddress: buyer.address
      })
      expect(await attach(transferId, id)).toBe("settled")
    })

    test("stops a signature for the payment from being sent", async () => {
      const transferId = await strangers()
      const id = await openPayment(world, "1")
      const buyer = await world.payer(amount)
      const signed = await signTerms(world, id, buyer)
      let isLooking = false
      let goOn = () => {}
      const held = new Promise<void>((resolve) => {
        goOn = resolve
      })
      world.node.behave(async (method) => {
        if (method !== "eth_getTransactionReceipt") return undefined
        isLooking = true
        await held
        return undefined
      })
      const attached = attach(transferId, id)
      await until(
        async () =>
          isLooking &&
          (
            await rowsOf(
              world,
              `SELECT 1 FROM incoming_transfers WHERE id = '${transferId}' AND attached_to = '${id}'`
            )
          ).length > 0
      )
      const refused = await payBySignature(world, id, signed)
      expect([refused.status, refused.body.error.code]).toEqual([409, "PAYMENT_ATTEMPT_OPEN"])
      goOn()
      world.node.behave(() => undefined)
      expect(await attached).toBe("settled")
      expect(await world.balanceOf(buyer.address)).toBe(amount)
      expect((await payBySignature(world, id, signed)).body.payment.payerAddress).not.toBe(buyer.address)
    })
  })

  test("a signature that somebody else submits to the chain, and nobody hands in, pays its payment", async () => {
    const [id, other] = [await openPayment(world, "1"), await openPayment(world, "1")]
    const buyer = await world.payer(amount)
    const signed = await signTerms(world, id, buyer)
    await signTerms(world, other, buyer)
    const hash = await relayElsewhere(world, signed.payload)
    await until(async () => (await statusOf(id)) === "settled")
    const { body } = await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)
    expect(body.payment).toMatchObject({
      payerType: "human",
      payerAddress: Address.make(buyer.address),
      reportedTransactionId: hash
    })
    expect(await statusOf(other)).toBe("pending")
    await until(async () => world.delivered.some((one) => one.transactionId === hash))
  })
})
