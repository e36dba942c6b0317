// The contract as a table, over real HTTP, on every database. Each case names its section; each response is also
// checked against the OpenAPI document.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { networks } from "../../../src/domain/networks.ts"
import { serviceForFile } from "../../support/forFile.ts"
import { receiver } from "../../support/service.ts"
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
import { makeShop } from "./shop.ts"

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

const service = await serviceForFile()
const newShop = () => makeShop(service)
const shop = await newShop()
const other = await newShop()

describe("Conformance on Postgres", () => {
  const sections = [...new Set(cases.map((one) => one.section))]
  for (const section of sections) {
    describe(`section ${section}`, () => {
      for (const one of cases.filter((each) => each.section === section)) {
        test(one.name, () => one.run({ shop, other, service, fresh: newShop }))
      }
    })
  }

  test("the table holds at least 250 cases", () => expect(cases.length).toBeGreaterThanOrEqual(250))
  test("the table and the contract use the same names of networks", () => {
    expect(networks.test.chainId).toBe(84532)
    expect(networks.live.chainId).toBe(42161)
    expect(receiver).toMatch(/^0x/)
  })
})
