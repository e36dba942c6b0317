// The site of / and /docs, and its markdown: complete, light, under a strict policy, and no link is broken.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import { dashboardCodes, ungrouped } from "../../../src/app/guides/errorsGuide.ts"
import { guidePaths } from "../../../src/app/guides/Pages.ts"
import { slugOf } from "../../../src/app/guides/reference.ts"
import { errorCodes } from "../../../src/domain/ErrorCode.ts"
import { events } from "../../../src/domain/Webhook.ts"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"

setDefaultTimeout(180_000)

describe("guides", () => {
  const scope = Effect.runSync(Scope.make())
  let service: TestService
  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(testDatabase), scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  /** On a busy machine the first pages are still being built, and the answer says so. */
  const get = async (path: string): Promise<Response> => {
    const answer = await fetch(`${service.baseUrl}${path}`)
    return answer.headers.has("refresh") ? get(path) : answer
  }

  const references = async () =>
    [...(await (await get("/llms.txt")).text()).matchAll(/(\/docs\/reference\/[a-z0-9-]+)\.md/g)].map(
      ([, path = ""]) => path
    )
  const isPage = (path: string) => !/\.\w+$/.test(path)

  test("every page and document answers, is lighter than 1 MB, and has no unfilled placeholder", async () => {
    const operations = await references()
    expect(operations.length).toBeGreaterThan(50)
    for (const path of [...guidePaths, ...operations, ...operations.map((one) => `${one}.md`)]) {
      const answer = await get(path)
      const text = await answer.text()
      expect([path, answer.status, text.length > 100, text.length < 1_000_000]).toEqual([
        path,
        200,
        true,
        true
      ])
      expect([
        path,
        /\{(?:base_url|attempts|wheel|version)\}|base-url\.invalid|\[object/.exec(text)?.[0]
      ]).toEqual([path, undefined])
      if (!isPage(path)) continue
      const policy = answer.headers.get("content-security-policy") ?? ""
      expect(policy).toStartWith("default-src 'none'; script-src 'self'")
      expect(policy).not.toContain("unsafe")
      expect([
        path,
        / style=|<style|<script[^>]*src="http|(?:href|src)="https?:[^"]*\.(?:js|css)"/.exec(text)?.[0]
      ]).toEqual([path, undefined])
    }
  })

  test("everything that the pages load exists, and is named by its content", async () => {
    const loaded = [
      ...(await (await get("/docs")).text()).matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)
    ]
    expect(loaded.length).toBeGreaterThan(3)
    for (const [, path = ""] of loaded) {
      const answer = await get(path)
      expect([path, answer.status]).toEqual([path, 200])
      expect(await answer.text()).not.toContain("base-url.invalid")
      const again = await fetch(`${service.baseUrl}${path}`, {
        headers: { "if-none-match": answer.headers.get("etag") ?? "" }
      })
      expect(again.status).toBe(304)
    }
    for (const path of ["/docs/assets/nothing.js", "/docs/assets/..%2fdocs.html", "/docs/reference/nothing"])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  test("commands name this service and its packages by their content", async () => {
    const text = await (await get("/docs/quickstart")).text()
    expect(text).toMatch(/http:\/\/localhost:8787\/packages\/[0-9a-f]{32}\/client\.tgz/)
    expect(await (await get("/docs/reference/payments-list")).text()).toContain(
      "http://localhost:8787/api/v1/payments"
    )
  })

  test("every link of a page leads to an existing page and anchor", async () => {
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
    for (const path of [...guidePaths.filter(isPage), ...(await references())]) {
      const links = [...(await pageAt(path)).matchAll(/href="((?:\/|#)[^"]*)"/g)].map(([, link = ""]) => link)
      for (const link of new Set(links)) {
        const [target = "", fragment] = link.split("#")
        const text = await pageAt(target === "" ? path : target)
        const isBroken =
          text === "" ||
          (fragment?.startsWith("pk=") !== true &&
            fragment !== undefined &&
            !text.includes(`id="${decodeURIComponent(fragment)}"`))
        if (isBroken) broken.push(`${path} -> ${link}`)
      }
    }
    expect(broken).toEqual([])
  })

  test("every error code belongs to a group", async () => {
    expect(ungrouped).toEqual([])
    const text = await (await get("/docs/errors")).text()
    for (const code of Object.keys(errorCodes)) {
      expect(text).toContain(`<h3 id="${code}"`)
      expect(text).toContain(`<a href="#${code}"`)
    }
  })

  test("the dashboard's error codes are those that no endpoint for API keys returns", async () => {
    const { paths, components } = JSON.parse(await (await get("/openapi.json")).text())
    const published = JSON.stringify([paths, components.responses])
    const unpublished = Object.keys(errorCodes).filter(
      (code) => !new RegExp(`["\`]${code}["\`]`).test(published) && code !== "METHOD_NOT_ALLOWED"
    )
    expect([...dashboardCodes].toSorted()).toEqual(unpublished.toSorted())
  })

  test("the reference has a page for every operation and event, with its fields; no example is a placeholder", async () => {
    const document = JSON.parse(await (await get("/openapi.json")).text())
    const reference = await (await get("/docs/reference.md")).text()
    const index = await (await get("/docs/reference")).text()
    expect(Object.keys(document.webhooks)).toEqual(Object.keys(events))
    const operations = ["paths", "webhooks"].flatMap((part) =>
      Object.values<Record<string, { summary: string; operationId: string }>>(document[part]).flatMap(
        Object.values
      )
    )
    expect(await references()).toHaveLength(operations.length)
    for (const { operationId, summary } of operations) {
      const path = `/docs/reference/${slugOf(operationId)}`
      expect(reference).toContain(`### ${summary}`)
      expect(index).toContain(`href="${path}"`)
      expect(await (await get(path)).text()).toContain(`>${summary}`)
    }
    expect(/: ""|: "string"|: "([a-zA-Z]+)",?\n(?<="\1": "\1".*\n)/.test(reference)).toBe(false)
    const create = await (await get("/docs/reference/payment-intents-create.md")).text()
    expect(create).toContain("| `intentUrl` | string | required | ")
    expect(create).toContain("| `intent.token.chainId` | integer |  | ")
    expect(create).toContain("Send a full-access secret key.")
    expect(create).toContain("[RECEIVER_TAKEN](/docs/errors#RECEIVER_TAKEN) | 409 |")
    expect(await (await get("/docs/reference/payments-list.md")).text()).toContain(
      "| `limit` | string | optional | "
    )
  })

  test("llms.txt lists every page as markdown", async () => {
    const text = await (await get("/llms.txt")).text()
    const listed = [...text.matchAll(/\((http[^)]+\.md)\)/g)].map(([, url = ""]) => new URL(url).pathname)
    for (const path of listed)
      expect((await get(path)).headers.get("content-type")).toContain("text/markdown")
    expect(listed).toEqual(expect.arrayContaining(guidePaths.filter((one) => one.endsWith(".md"))))
  })
})

describe("unknown addresses", () => {
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

  for (const [path, type] of [
    ["/nothing", "text/html"],
    ["/docs/", "text/html"],
    ["/docs/nothing", "text/html"],
    ["/api/v1/nothing", "application/json"],
    ["/api/v1/payments/", "application/json"]
  ] as const) {
    test(`${path} is 404 for a browser, as ${type}`, async () => {
      const answer = await fetch(`${service.baseUrl}${path}`, { headers: { accept: "text/html,*/*;q=0.8" } })
      expect([answer.status, answer.headers.get("content-type")?.split(";")[0]]).toEqual([404, type])
      expect(answer.headers.get("x-request-id")).not.toBeNull()
    })
  }

  test("a program with a key gets the envelope, whatever it accepts", async () => {
    const headers = { accept: "text/html", authorization: "Bearer sk_test_x" }
    const answer = await fetch(`${service.baseUrl}/nothing`, { headers })
    expect(answer.headers.get("content-type")).toStartWith("application/json")
  })
})
