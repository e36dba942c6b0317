// The contract as a table, over real HTTP, on every database. Each
// case names its section; each response is also held against the OpenAPI document.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { networks } from "../../../src/domain/networks.ts"
import { testDatabase } from "../../support/database.ts"
import { receiver, startService, type TestMerchant, type TestService } from "../../support/service.ts"
import { authenticationCases } from "./conformance/authentication.cases.ts"
import { checkoutCases } from "./conformance/checkout.cases.ts"
import { eventsCases } from "./conformance/events.cases.ts"
import { intentsCases } from "./conformance/intents.cases.ts"
import { openingCases } from "./conformance/opening.cases.ts"
import { paymentObjectCases } from "./conformance/paymentObject.cases.ts"
import { playgroundCases } from "./conformance/playground.cases.ts"
import { readingCases } from "./conformance/reading.cases.ts"
import { reportingCases } from "./conformance/reporting.cases.ts"
import { rulesCases } from "./conformance/rules.cases.ts"
import { webhookEndpointCases } from "./conformance/webhookEndpoint.cases.ts"
import { makeShop, type Shop } from "./shop.ts"

setDefaultTimeout(60_000)

const cases = [
  ...intentsCases,
  ...openingCases,
  ...paymentObjectCases,
  ...reportingCases,
  ...readingCases,
  ...eventsCases,
  ...webhookEndpointCases,
  ...playgroundCases,
  ...checkoutCases,
  ...authenticationCases,
  ...rulesCases
]

describe("Conformance on Postgres", () => {
  const database = testDatabase
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  let shop: Shop
  let other: Shop
  let newShop: () => Promise<Shop>

  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(database), scope))
    newShop = async (): Promise<Shop> => {
      const merchant: TestMerchant = await Effect.runPromise(service.newMerchant)
      return makeShop(service, merchant)
    }
    shop = await newShop()
    other = await newShop()
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  const sections = [...new Set(cases.map((one) => one.section))]
  for (const section of sections) {
    describe(`section ${section}`, () => {
      for (const one of cases.filter((each) => each.section === section)) {
        test(one.name, () => one.run({ shop, other, service, fresh: newShop }))
      }
    })
  }

  test("the table holds at least 250 cases", () => expect(cases.length).toBeGreaterThanOrEqual(250))
  test("the table names networks as the contract does", () => {
    expect(networks.test.chainId).toBe(84532)
    expect(networks.live.chainId).toBe(42161)
    expect(receiver).toMatch(/^0x/)
  })
})
