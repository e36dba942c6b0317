// The guides as pages and as markdown: complete, light, without scripts, each link leading somewhere.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { ungrouped } from "../../../src/app/guides/errorsGuide.ts"
import { guidePaths } from "../../../src/app/guides/Pages.ts"
import { errorCodes } from "../../../src/domain/ErrorCode.ts"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"

setDefaultTimeout(60_000)

describe("guides", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const get = (path: string) => fetch(`${service.baseUrl}${path}`)

  for (const path of guidePaths) {
    test(`${path} answers, lighter than 1 MB, and nothing in it is left to fill in`, async () => {
      const answer = await get(path)
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text.length).toBeGreaterThan(100)
      expect(text.length).toBeLessThan(1_000_000)
      expect(/\{base_url\}|\[object/.test(text)).toBe(false)
      if (!(answer.headers.get("content-type") ?? "").startsWith("text/html")) return
      expect(/<script[^&]|src="http/.test(text)).toBe(false)
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'")
    })
  }

  test("every link of a page leads to a page, and to a place on it", async () => {
    const pages = new Map<string, string>()
    const pageAt = async (path: string) => {
      const known = pages.get(path)
      if (known !== undefined) return known
      const answer = await get(path)
      const text = answer.ok ? await answer.text() : ""
      pages.set(path, text)
      return text
    }
    const broken: Array<string> = []
    for (const path of guidePaths.filter((one) => !/\.\w+$/.test(one))) {
      const links = [...(await pageAt(path)).matchAll(/href="(\/[^"]*)"/g)].map(([, link = ""]) => link)
      for (const link of new Set(links)) {
        const [target = "", fragment] = link.split("#")
        const text = await pageAt(target)
        const isBroken =
          text === "" ||
          (fragment?.startsWith("pk=") !== true &&
            fragment !== undefined &&
            !text.includes(`id="${fragment}"`))
        if (isBroken) broken.push(`${path} -> ${link}`)
      }
    }
    expect(broken).toEqual([])
  })

  test("every error code has its place in a group", async () => {
    expect(ungrouped).toEqual([])
    const text = await (await get("/docs/errors")).text()
    for (const code of Object.keys(errorCodes)) expect(text).toContain(`<h3 id="${code}">`)
  })

  test("the reference shows every operation, and no example is a placeholder", async () => {
    const document = JSON.parse(await (await get("/openapi.json")).text())
    const reference = await (await get("/docs/reference.md")).text()
    expect(Object.keys(document.webhooks)).toEqual(["payment.settled", "test"])
    for (const part of ["paths", "webhooks"])
      for (const methods of Object.values<Record<string, { summary: string }>>(document[part]))
        for (const { summary } of Object.values(methods)) expect(reference).toContain(`### ${summary}`)
    expect(/: ""|: "string"|: "([a-zA-Z]+)",?\n(?<="\1": "\1".*\n)/.test(reference)).toBe(false)
  })

  test("llms.txt lists every page as markdown", async () => {
    const text = await (await get("/llms.txt")).text()
    for (const [, url = ""] of text.matchAll(/\((http[^)]+\.md)\)/g)) {
      const path = new URL(url).pathname
      expect((await get(path)).headers.get("content-type")).toContain("text/markdown")
    }
    expect(text.match(/\.md\)/g)?.length).toBe(guidePaths.filter((one) => one.endsWith(".md")).length)
  })
})

describe("addresses that nothing is at", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  for (const [path, type] of [
    ["/dashboard/zz", "text/html"],
    ["/dashboard/zz/yy", "text/html"],
    ["/dashboard/a/test/b/c/d", "text/html"],
    ["/dashboard/api/zz", "application/json"],
    ["/nothing", "application/json"]
  ] as const) {
    test(`${path} is 404, as ${type}`, async () => {
      const answer = await fetch(`${service.baseUrl}${path}`)
      expect([answer.status, answer.headers.get("content-type")?.split(";")[0]]).toEqual([404, type])
    })
  }
})
