// Input from payers: numbers out of range, long addresses, signatures of contract wallets in whatever form their code
// needs.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { concat, encodeAbiParameters, type Hex, pad, parseSignature, toHex } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { Address } from "../../src/domain/Chain.ts"
import { assemble } from "../support/assembler.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { bodyV1, bodyV2, firstVersion, headerOf, openPayment, payPath, versions } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const amount = 10_000n
const random = () => toHex(crypto.getRandomValues(new Uint8Array(32)))

/** Code whose `isValidSignature` accepts only 65 bytes: this r, any s, and exactly this v. */
const particularWallet = (r: Hex, v: number): Hex =>
  assemble(`
    0xa4 CALLDATALOAD 0xf8 SHR ${toHex(v, { size: 1 })} EQ
    0x44 CALLDATALOAD 0x41 EQ AND
    0x64 CALLDATALOAD ${r} EQ AND
    ISZERO =no JUMPI
    ${pad("0x1626ba7e", { dir: "right" })} 0x00 MSTORE
    0x20 0x00 RETURN
  @no
    0x00 0x00 REVERT
  `)

const world = await x402World()

describe("input from payers", () => {
  const ask = (endpoint: "settle" | "verify", body: unknown) =>
    world.call("POST", `/x402/${endpoint}`, world.keys[world.env].secret, body)
  const newest = async () =>
    (await world.call("GET", "/payments?limit=1", world.keys[world.env].secret)).body.payments[0]

  for (const field of ["value", "validAfter", "validBefore"]) {
    test(`${field} beyond 256 bits is a 400 with its place, in either version and on a payment's own address`, async () => {
      const account = await world.payer(0n)
      const signed = await world.authorize(account, amount)
      const tooLarge = (10n ** 78n - 1n).toString()
      const payload = { ...signed, authorization: { ...signed.authorization, [field]: tooLarge } }
      for (const version of versions) {
        const body = version === 1 ? bodyV1(payload, amount) : bodyV2(payload, amount)
        for (const endpoint of ["verify", "settle"] as const) {
          const answer = await ask(endpoint, body)
          expect(answer.status).toBe(400)
          expect(answer.body.error.details?.[0]?.path).toBe(
            `body.paymentPayload.payload.authorization.${field}`
          )
        }
      }
      const id = await openPayment(world, "0.01")
      const header = headerOf(payload, amount)
      const [headerName] = Object.keys(header)
      const paid = await world.call("GET", payPath(world, id), undefined, undefined, header)
      expect(paid.status).toBe(400)
      expect(paid.body.error.details?.[0]?.path).toBe(`header.${headerName}.payload.authorization.${field}`)
    })
  }

  test("an authorization without an end settles: its end is the largest possible number", async () => {
    const account = await world.payer()
    const payload = await world.authorize(account, amount, { validAfter: 0n, validBefore: 2n ** 256n - 1n })
    expect((await ask("settle", bodyV2(payload, amount))).body.success).toBe(true)
  })

  test("on a payment's own address such an authorization is refused, because it would hold the payment", async () => {
    const account = await world.payer()
    const id = await openPayment(world, "0.01")
    const payload = await world.authorize(account, amount, { validBefore: 2n ** 256n - 1n })
    const answer = await world.call("GET", payPath(world, id), undefined, undefined, headerOf(payload))
    expect(answer.status).toBe(402)
    expect<unknown>(answer.body.error).toBe("invalid_exact_evm_payload_authorization_valid_before")
  })

  test("a resource whose encoding is too long is cut to the limit", async () => {
    const query = `https://api.example.com/weather?${"ü".repeat(1_400)}`
    const path = `https://api.example.com/${"ü".repeat(1_400)}`
    // Only version 1 contains a resource that is shown.
    for (const [resource, shown] of firstVersion === 1
      ? [
          [query, "https://api.example.com/weather"],
          [path, "https://api.example.com"]
        ]
      : []) {
      const payload = await world.authorize(await world.payer(), amount)
      expect((await ask("settle", bodyV1(payload, amount, { resource }))).body.success).toBe(true)
      expect<unknown>((await newest())?.intentUrl).toBe(shown)
    }
    const payload = await world.authorize(await world.payer(), amount)
    const described = { resource: { url: path, description: "", mimeType: "" } }
    expect((await ask("settle", bodyV2(payload, amount, {}, described))).body.success).toBe(true)
  })

  test("in version 2 the payer's resource does not become the intentUrl", async () => {
    const payload = await world.authorize(await world.payer(), amount)
    const described = { resource: { url: "https://shop.example/orders/1042", description: "", mimeType: "" } }
    expect((await ask("settle", bodyV2(payload, amount, {}, described))).body.success).toBe(true)
    expect((await newest())?.intentUrl).toBe(world.baseUrl)
  })

  test("an account's signature in compact parity form pays like the usual form", async () => {
    const account = await world.payer()
    const signed = await world.authorize(account, amount)
    const parity = Number.parseInt(signed.signature.slice(-2), 16) - 27
    const signature = concat([`0x${signed.signature.slice(2, -2)}`, toHex(parity, { size: 1 })])
    expect((await ask("settle", bodyV2({ ...signed, signature }, amount))).body.success).toBe(true)
  })

  /** The order of secp256k1 (SEC 2, 2.4.1). */
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const zero = pad("0x00")
  const undeployed = (factory: Hex): Hex =>
    concat([
      encodeAbiParameters(
        [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
        [factory, "0xdeadbeef", `0x${"00".repeat(65)}`]
      ),
      `0x${"6492".repeat(16)}`
    ])
  const forgeries: ReadonlyArray<readonly [string, (r: Hex, s: Hex, parity: number) => string]> = [
    ["zeros", () => `0x${"00".repeat(65)}`],
    ["97 bytes, as a contract's", () => `0x${"ab".repeat(97)}`],
    ["an undeployed wallet's, of an address without code", () => undeployed(receiver)],
    ["an undeployed wallet's, with USDC as factory", () => undeployed(moneyNetwork.usdc.address)],
    ["an undeployed wallet's, broken", () => `0xdeadbeef${"6492".repeat(16)}`],
    ["one byte short", (r, s) => concat([r, s])],
    ["half a byte short", (r, s, parity) => concat([r, s, toHex(27 + parity)]).slice(0, -1)],
    ["one byte long", (r, s, parity) => concat([r, s, toHex(27 + parity), "0x00"])],
    ["a high s", (r, s, parity) => concat([r, toHex(order - BigInt(s), { size: 32 }), toHex(28 - parity)])],
    ["s as the order", (r, _, parity) => concat([r, toHex(order), toHex(27 + parity)])],
    ["r as zero", (_, s, parity) => concat([zero, s, toHex(27 + parity)])],
    ["s as zero", (r, _, parity) => concat([r, zero, toHex(27 + parity)])],
    ["v as 29", (r, s) => concat([r, s, "0x1d"])],
    ["v as 255", (r, s) => concat([r, s, "0xff"])],
    ["the other parity", (r, s, parity) => concat([r, s, toHex(28 - parity)])]
  ]
  test("forged and malleated signatures of a payer with funds are refused, and move nothing", async () => {
    const account = await world.payer()
    const good = await world.authorize(account, amount)
    const { r, s, yParity } = parseSignature(good.signature)
    for (const [name, forge] of forgeries) {
      const body = bodyV2({ ...good, signature: forge(r, s, yParity) }, amount)
      for (const endpoint of ["verify", "settle"] as const) {
        const answer = await ask(endpoint, body)
        expect([name, [answer.body.isValid, answer.body.success].includes(true)]).toEqual([name, false])
        expect([200, 400]).toContain(answer.status)
      }
    }
    expect(await world.balanceOf(account.address)).toBe(1_000_000_000n)
    expect((await ask("verify", bodyV2(good, amount))).body.isValid).toBe(true)
  })

  for (const [name, v, s] of [
    ["Safe's eth_sign, v = 31", 31, random()],
    ["Safe's eth_sign, v = 32", 32, random()],
    ["Safe's approved hash, s = 0 and v = 1", 1, pad("0x00")],
    ["Safe's contract owner, v = 0", 0, random()],
    ["plain, v = 27", 27, random()]
  ] as const) {
    test(`a contract wallet's 65 bytes reach its code unchanged: ${name}`, async () => {
      const wallet = Address.make(privateKeyToAddress(generatePrivateKey()))
      const r = random()
      await Effect.runPromise(world.chain.rpc("anvil_setCode", [wallet, particularWallet(r, v)]))
      await Effect.runPromise(world.chain.mint(wallet, amount))
      const now = BigInt(Math.floor(Date.now() / 1000))
      const payload = {
        signature: concat([r, s, toHex(v, { size: 1 })]),
        authorization: {
          from: wallet,
          to: receiver,
          value: amount.toString(),
          validAfter: (now - 600n).toString(),
          validBefore: (now + 60n).toString(),
          nonce: random()
        }
      }
      const body = bodyV2(payload, amount)
      expect<unknown>((await ask("verify", body)).body).toEqual({ isValid: true, payer: wallet })
      expect((await ask("settle", body)).body).toMatchObject({ success: true, payer: wallet })
      expect(await world.balanceOf(wallet)).toBe(0n)
    })
  }
})
