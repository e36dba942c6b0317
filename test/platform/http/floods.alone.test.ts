// A stranger floods with the shop's publishable key: the stranger is refused, other buyers are not.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { Address } from "../../../src/domain/Chain.ts"
import { password, request, signUp } from "../../dashboard/person.ts"
import { serviceForFile } from "../../support/forFile.ts"

setDefaultTimeout(60_000)

const perAddress = 20
/** Ten addresses of an IPv6 site may use their full rate. */
const perSite = 10 * perAddress

const service = await serviceForFile({ rateLimitPerKey: perAddress, trustedProxyHops: 1 })
const merchant = await Effect.runPromise(service.newMerchant)

describe("Floods", () => {
  /** At most as many of 600 requests of an address or a site pass as its limit admits in the time that they took. */
  const expectLimited = async (
    rate: number,
    statuses: (requests: number) => Promise<ReadonlyArray<number>>
  ) => {
    const began = performance.now()
    const all = await statuses(600)
    const seconds = (performance.now() - began) / 1_000
    expect(all.filter((status) => status !== 429).length).toBeLessThanOrEqual(
      rate + Math.ceil(rate * seconds) + 1
    )
  }
  const ask = (path: string, key: string, from: string) =>
    fetch(`${service.baseUrl}/api/v1${path}`, {
      headers: { authorization: `Bearer ${key}`, "x-forwarded-for": from }
    })

  for (const [where, from] of [
    // A forged entry before the proxy's own, and the port that some proxies add.
    ["one address", (request: number) => `192.0.2.9, 198.51.100.1:${4000 + (request % 12)}`],
    ["a /48 of IPv6", (request: number) => `2001:db8:7:${(request % 65_536).toString(16)}::1`]
  ] as const)
    test(`a stranger who floods from ${where} leaves another buyer at 0 of 100 refused`, async () => {
      const { publishable } = merchant.keys.test
      const seen = { stranger: 0, refused: 0 }
      let over = false
      const stranger = Array.from({ length: 12 }, async () => {
        while (!over) {
          const { status } = await ask("/checkout-context", publishable, from(seen.stranger))
          seen.stranger++
          if (status === 429) seen.refused++
        }
      })
      while (seen.refused < 50) await Bun.sleep(20)
      const buyer: Array<number> = []
      for (let count = 0; count < 100; count++) {
        const { status } = await ask("/checkout-context", publishable, "198.51.100.2")
        buyer.push(status)
        await Bun.sleep(55)
      }
      over = true
      await Promise.all(stranger)
      expect(buyer.filter((status) => status === 429)).toEqual([])
      expect(buyer.filter((status) => status === 200)).toHaveLength(100)
      expect(seen.refused).toBeGreaterThan(50)
    }, 180_000)

  test("a stranger who pays always new payments by x402 is limited as with the key in a header", async () => {
    const pay = (from: string) =>
      ask(`/payments/${crypto.randomUUID()}/x402?pk=${merchant.keys.test.publishable}`, "", from)
    const statuses = async (requests: number, from: (request: number) => string) => {
      const answers = await Promise.all(Array.from({ length: requests }, (_, request) => pay(from(request))))
      expect(answers.every(({ headers, status }) => status !== 429 || headers.has("retry-after"))).toBe(true)
      return answers.map(({ status }) => status)
    }
    await expectLimited(perAddress, (requests) => statuses(requests, () => "198.51.100.7"))
    await expectLimited(perSite, (requests) =>
      statuses(requests, (request) => `2001:db8:9:${request.toString(16)}::1`)
    )
    expect(await statuses(10, () => "198.51.100.8")).toEqual(Array<number>(10).fill(404))
  })

  for (const what of ["links", "receipts"])
    test(`a stranger who reads always new ${what} is limited, and nobody else`, async () => {
      const statuses = (requests: number, from: (request: number) => string) =>
        Promise.all(
          Array.from({ length: requests }, async (_, request) => {
            const id = crypto.randomUUID().replaceAll("-", "")
            const { headers, status } = await ask(`/${what}/${id}`, "", from(request))
            expect(status !== 429 || headers.has("retry-after")).toBe(true)
            return status
          })
        )
      await expectLimited(perAddress, (requests) => statuses(requests, () => "198.51.100.9"))
      await expectLimited(perSite, (requests) =>
        statuses(requests, (request) => `2001:db8:11:${request.toString(16)}::1`)
      )
      expect(await statuses(10, () => "198.51.100.10")).toEqual(Array<number>(10).fill(404))
    })

  test("a stranger who tries to sign in from every network of an IPv6 /48 keeps nobody else out", async () => {
    const { email } = await signUp(service.baseUrl, Address.make(`0x${"5".repeat(40)}`))
    const signIn = (who: string, secret: string, from: string) =>
      request(service.baseUrl, "POST", "/sign-in", {
        body: { email: who, password: secret },
        headers: { "x-forwarded-for": from }
      })
    let over = false
    let tried = 0
    const stranger = Array.from({ length: 40 }, async () => {
      while (!over) {
        const attempt = tried++
        await signIn(
          `nobody${attempt}@example.com`,
          "a guess",
          `2001:db8:5:${(attempt % 65_536).toString(16)}::1`
        )
      }
    })
    await Bun.sleep(10_000)
    const person: Array<number> = []
    for (let count = 0; count < 10; count++) {
      person.push((await signIn(email, password, `198.51.100.${20 + count}`)).status)
      await Bun.sleep(100)
    }
    over = true
    await Promise.all(stranger)
    expect(person).toEqual(Array<number>(10).fill(200))
  }, 180_000)

  test("a secret key is limited by key, not by address", async () => {
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, index) =>
        ask("/payments", merchant.keys.test.secret, `198.51.100.${index}`)
      )
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0)
  }, 180_000)
})
