// A code in place of a payment's token: valid while the payment is pending, and for no other payment.
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { encode } from "uqr"
import { makeShop } from "../platform/http/shop.ts"
import { serviceForFile } from "../support/forFile.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const shop = await makeShop(service)
const resume = (resumeCode: string, key = shop.keys.publishable) =>
  shop.call({ method: "POST", path: "/api/v1/payments/resume", key, body: { resumeCode } })

describe("A resume code", () => {
  test("returns a token of the same payment and terms, again and again", async () => {
    const opened = await shop.open("12.50")
    const { payment, resumeCode } = opened.body
    expect(resumeCode).toMatch(/^[\w-]{35}$/)
    for (let times = 0; times < 2; times++) {
      const { body, status } = await resume(resumeCode)
      expect(status).toBe(200)
      const again = await shop.call({
        method: "POST",
        path: "/api/v1/payments",
        key: shop.keys.publishable,
        body: { intentToken: body.intentToken }
      })
      expect<unknown>([again.status, again.body]).toEqual([200, { payment, resumeCode }])
    }
  })

  test("fits a QR code of 45 modules behind an address of 45 letters", async () => {
    const { resumeCode } = (await shop.open()).body
    const url = `https://${"p".repeat(25)}.example.com/pay#c=${resumeCode}&key=${shop.keys.publishable}`
    expect(encode(url, { ecc: "L", border: 0 }).size).toBeLessThanOrEqual(45)
  })

  test("expires with its payment", async () => {
    const opened = (await shop.open("10.00")).body
    const hash = await shop.transfer(10_000_000n)
    expect((await shop.report(opened.payment.id, hash, 10_000_000n)).status).toBe(200)
    const { body, status } = await resume(opened.resumeCode)
    expect([status, body.error.code]).toEqual([409, "PAYMENT_SETTLED"])
    expect(JSON.stringify(body)).not.toContain("intentToken")
  })

  test("is invalid for another merchant, in the other environment, or with any character changed", async () => {
    const { resumeCode } = (await shop.open()).body
    const rival = await makeShop(service)
    for (const key of [rival.keys.publishable, shop.keys.livePublishable]) {
      const { body, status } = await resume(resumeCode, key)
      expect([status, body.error.code]).toEqual([404, "PAYMENT_NOT_FOUND"])
    }
    for (let index = 0; index < resumeCode.length; index++) {
      const other = resumeCode[index] === "A" ? "B" : "A"
      const changed = `${resumeCode.slice(0, index)}${other}${resumeCode.slice(index + 1)}`
      expect((await resume(changed)).status).toBe(404)
    }
    for (const nonsense of ["x", "=", `${resumeCode}=`, resumeCode.slice(0, -1)])
      expect((await resume(nonsense)).status).toBe(404)
  })
})
