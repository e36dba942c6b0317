// More alerts than a page can show: the page says so, and a person can load all of them.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MoreAlerts } from "../../src/dashboard/api/alerts/Api.ts"
import { browserSuite, expectNoAxeViolations, screenshot } from "../support/browser.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signUp } from "./person.ts"
import { signedIn } from "./signedIn.ts"

setDefaultTimeout(60_000)

const browserTest = browserSuite()

const service = await serviceForFile()

describe("More alerts than one page lists", () => {
  /** Several have the same time. */
  const raise = (merchantId: string, count: number, minutesLater = 0) =>
    Effect.runPromise(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          INSERT INTO alerts (id, merchant_id, env, kind, subject, message, created_at)
          SELECT gen_random_uuid(), ${merchantId}, 'test', 'refund_unproven', gen_random_uuid()::text,
            'Alert ' || number,
            date_trunc('second', now()) - ((number / 3)::integer - ${minutesLater}::integer) * interval '1 minute'
          FROM generate_series(1, ${count}::integer) number`
      ).pipe(Effect.provideContext(service.context))
    )

  test("each is on exactly one page, in order, even if some are acknowledged in between", async () => {
    const person = await signUp(service.baseUrl)
    const at = `/merchants/${person.merchantId}/test/alerts`
    const before: number = (await person.call("GET", at)).body.alerts.length
    await raise(person.merchantId, 230)
    const first = (await person.call("GET", at)).body
    expect([first.alerts.length, first.moreOpen, first.moreDecided]).toEqual([100, true, false])
    const ids = first.alerts.map(({ id }) => id)
    for (let hasMore = true; hasMore; ) {
      const last = ids.at(-1)
      await person.call("POST", `${at}/${last}/acknowledge`, {})
      const answer = await person.call("GET", `${at}/more?status=open&startingAfter=${last}`)
      const next = Schema.decodeUnknownSync(MoreAlerts)(answer.body)
      ids.push(...next.alerts.map(({ id }) => id))
      hasMore = next.hasMore
    }
    expect([ids.length, new Set(ids).size]).toEqual([before + 230, before + 230])
  })

  browserTest("the page says that there are more, and a button shows them", async () => {
    const person = await signUp(service.baseUrl)
    await raise(person.merchantId, 130)
    const page = await signedIn(service.baseUrl, person.cookie, { width: 360 })
    await page.goto(`${service.baseUrl}/dashboard/${person.merchantId}/test/alerts`)
    const more = page.getByRole("button", { name: "Show older open alerts" })
    await page.getByText("There are older entries.").waitFor()
    expect(await page.getByText("Alert 130", { exact: true }).count()).toBe(0)
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      await more.scrollIntoViewIfNeeded()
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      await screenshot(page, `alerts-more-${width}`)
    }
    await expectNoAxeViolations(page)
    await more.click()
    const last = page.getByRole("listitem").filter({ has: page.getByText("Alert 130", { exact: true }) })
    await last.waitFor()
    expect(await more.count()).toBe(0)
    // An alert that was loaded later leaves the list once it is acknowledged.
    await last.getByRole("button", { name: "Acknowledge" }).click()
    await last.getByText(`Acknowledged by ${person.email}`).waitFor()
    for (let tries = 0; tries < 300 && (await last.count()) !== 1; tries++) await Bun.sleep(100)
    expect(await last.count()).toBe(1)
    // More alerts arrive than one page holds, so there is a gap between the lists.
    await raise(person.merchantId, 150, 100)
    await page.getByText("There are older entries.").waitFor()
    await more.click()
    await page.getByText("Alert 150", { exact: true }).waitFor()
    const numbers = await page
      .getByRole("listitem")
      .getByText(/^Alert \d+$/)
      .allInnerTexts()
    expect(new Set(numbers.slice(0, 150)).size).toBe(150)
  })
})
