// The operator's deny list on a running service: nothing is relayed for its addresses, and their transfers wait for the
// merchant, who sees them and may attach them.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { signUp } from "../dashboard/person.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import {
  bodyV2,
  broadcasts,
  openPayment,
  relayElsewhere,
  report,
  rowsOf,
  transfer,
  until
} from "./payloads.ts"
import { payBySignature, signTerms, termsOf } from "./relaying/signed.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const price = 1_000_000n
const directory = mkdtempSync(join(tmpdir(), "quittance-deny-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const file = join(directory, "deny-list.txt")
writeFileSync(file, "# Nobody yet\n")

const world = await x402World({ DENY_LIST: file, TESTNET_CONFIRMATIONS: "1" })
const person = await signUp(world.baseUrl, freshAddress())
await rowsOf(
  world,
  `INSERT INTO merchant_members (merchant_id, user_id, role, created_at)
   SELECT '${world.merchantId}', user_id, role, created_at FROM merchant_members
   WHERE merchant_id = '${person.merchantId}'`
)
const dashboard = `/merchants/${world.merchantId}/${world.env}`

const statement = async () => {
  const days = [-1, 1].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10))
  const { body } = await world.call(
    "GET",
    `/statement?from=${days[0]}&to=${days[1]}&timeZone=UTC`,
    world.keys[world.env].secret
  )
  return body
}
/** Writes the list, and waits until it takes effect. */
const deny = async (...addresses: ReadonlyArray<string>) => {
  writeFileSync(file, `# Sanctions\n${addresses.map((one) => one.toLowerCase()).join("\n")}\n`)
  const date = statSync(file).mtime.toISOString()
  await until(async () => (await statement()).statement.denyListAt === date)
}
const statusOf = async (id: string) =>
  (await world.call("GET", `/payments/${id}`, world.keys[world.env].secret)).body.payment.status
/** The account's transfer, once it is listed as denied. */
const listedOf = async ({ address }: PrivateKeyAccount) => {
  const listed = async () =>
    (await person.call("GET", `${dashboard}/incoming-transfers`)).body.transfers.find(
      ({ kind, payer }: { kind: string | null; payer: string }) => payer === address && kind === "denied"
    )
  await until(async () => (await listed()) !== undefined)
  return (await listed())?.id ?? ""
}
const attach = async (transferId: string, paymentId: string) =>
  (await person.call("POST", `${dashboard}/incoming-transfers/${transferId}/attach`, { paymentId })).body
    .payment.status
const settle = async (buyer: PrivateKeyAccount) => {
  const body = bodyV2(await world.authorize(buyer, price), price)
  const ask = async (path: string) =>
    (await world.call("POST", `/x402/${path}`, world.keys[world.env].secret, body)).body
  const [verified, settled] = [await ask("verify"), await ask("settle")]
  return [verified.invalidReason, settled.errorReason, settled.transaction]
}

describe("an address on the operator's deny list", () => {
  test("is relayed nothing, as payer and as receiver, and gets no test funds, once it is added", async () => {
    const [buyer, other] = [await world.payer(), await world.payer()]
    const id = await openPayment(world, "1")
    const signed = await signTerms(world, id, buyer)
    await deny(buyer.address)
    expect((await termsOf(world, id, other.address)).body.relayed).toBe(true)
    const sent = broadcasts(world)
    const refused = await payBySignature(world, id, signed)
    expect([refused.status, refused.body.error.code, refused.body.error.reason]).toEqual([
      503,
      "RELAY_UNAVAILABLE",
      "declined"
    ])
    // The buyer's error does not mention a list.
    expect(JSON.stringify(refused.body)).not.toMatch(/deny|denied|sanction/i)
    expect(await settle(buyer)).toEqual(["relay_address_denied", "relay_address_denied", ""])
    const buyerDidToken = await createDidToken(buyer, {
      audience: world.baseUrl,
      lifetimeSeconds: 900,
      now: Math.floor(Date.now() / 1000)
    })
    if (moneyNetwork.faucet) {
      const funds = await world.call("POST", "/checkout/test-funds", world.keys[world.env].publishable, {
        buyerDidToken
      })
      expect([funds.status, funds.body.error.reason]).toEqual([503, "declined"])
    }
    await deny(receiver)
    expect(await settle(other)).toEqual(["relay_address_denied", "relay_address_denied", ""])
    expect([broadcasts(world), await statusOf(id)]).toEqual([sent, "pending"])
  })

  test("pays by a transfer only once the merchant attaches it; the books balance and have the list's date", async () => {
    const buyer = await world.payer()
    await deny(buyer.address)
    const before = (await statement()).statement
    const id = await openPayment(world, "1")
    const hash = await transfer(world, buyer, price)
    await Effect.runPromise(world.chain.mine(2))
    const ask = () => report(world, id, buyer, price, hash)
    const transferId = await listedOf(buyer)
    for (let look = 0; look < 2; look++) {
      const pending = await ask()
      expect([pending.status, pending.body.error.code]).toEqual([202, moneyNetwork.reportCodes.pending])
      expect(JSON.stringify(pending.body)).not.toMatch(/deny|denied|sanction/i)
      await Bun.sleep(1_500)
    }
    expect(await statusOf(id)).toBe("pending")
    const { timeline } = (await person.call("GET", `${dashboard}/payments/${id}`)).body
    expect(timeline).toContainEqual(expect.objectContaining({ verdict: "denied" }))
    const during = await statement()
    expect(during.statement.unexplained.count - before.unexplained.count).toBe(1)
    expect([during.balances.difference, during.statement.denyListAt]).toEqual([
      "0.00",
      expect.stringMatching(/^20\d\d-/)
    ])
    expect(await attach(transferId, id)).toBe("settled")
    expect((await ask()).status).toBe(200)
    const after = await statement()
    expect(after.statement.payments.count - before.payments.count).toBe(1)
    expect([after.statement.unexplained, after.balances.difference]).toEqual([before.unexplained, "0.00"])
    await until(async () => world.delivered.some(({ transactionId }) => transactionId === hash))
    // Taken off the list, and put on it again, it stays settled.
    await deny(buyer.address, freshAddress())
    expect(await statusOf(id)).toBe("settled")
  })

  test("that is added while its signature is on its way is told to wait, and settled by attaching", async () => {
    await deny()
    const buyer = await world.payer()
    const id = await openPayment(world, "1")
    const signed = await signTerms(world, id, buyer)
    expect((await payBySignature(world, id, signed)).status).toBe(202)
    await deny(buyer.address)
    await Effect.runPromise(world.chain.mine(2))
    const transferId = await listedOf(buyer)
    for (let look = 0; look < 2; look++) {
      expect((await payBySignature(world, id, signed)).status).toBe(202)
      await Bun.sleep(1_500)
    }
    expect(await statusOf(id)).toBe("pending")
    expect(await attach(transferId, id)).toBe("settled")
    await until(async () => {
      const [row] = await rowsOf(world, `SELECT status FROM x402_settlements WHERE payment_id = '${id}'`)
      return row?.["status"] === "settled"
    }, 40_000)
    expect(await world.balanceOf(buyer.address)).toBe(1_000_000_000n - price)
  })

  test("whose signature somebody else has used is told to wait, on each request, and settled by attaching", async () => {
    await deny()
    const buyer = await world.payer()
    const id = await openPayment(world, "1")
    const signed = await signTerms(world, id, buyer)
    await deny(buyer.address)
    await relayElsewhere(world, signed.payload)
    await Effect.runPromise(world.chain.mine(2))
    const transferId = await listedOf(buyer)
    for (let look = 0; look < 2; look++) {
      expect((await payBySignature(world, id, signed)).status).toBe(202)
      await Bun.sleep(500)
    }
    expect([await statusOf(id), await attach(transferId, id)]).toEqual(["pending", "settled"])
    expect((await payBySignature(world, id, signed)).status).toBe(200)
  })
})
