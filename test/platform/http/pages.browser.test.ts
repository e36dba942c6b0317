// Every page and document of the service: its policies, and that the API reference asks nobody else.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { browserSuite, newPage } from "../../support/browser.ts"
import { serviceForFile } from "../../support/forFile.ts"

setDefaultTimeout(60_000)
const inBrowser = browserSuite()

const service = await serviceForFile()
const secure = await serviceForFile({ baseUrl: "https://pay.example.com" })

describe("pages", () => {
  for (const path of [
    "/",
    "/docs",
    "/docs/quickstart",
    "/docs/reference",
    "/docs/errors",
    "/pay",
    "/playground",
    "/dashboard",
    "/dashboard/sign-in"
  ]) {
    test(`${path} is in no frame, names no other host and tells nobody where a person came from`, async () => {
      const { headers, status } = await fetch(`${service.baseUrl}${path}`)
      expect(status).toBe(200)
      const policy = headers.get("content-security-policy") ?? ""
      for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
        expect(policy).toContain(part)
      expect(policy).not.toMatch(/script-src[^;]*'unsafe/)
      expect(policy.replaceAll(service.baseUrl, "")).not.toMatch(/\/\/(?!localhost|127\.0\.0\.1)/)
      expect([headers.get("x-frame-options"), headers.get("x-content-type-options")]).toEqual([
        "DENY",
        "nosniff"
      ])
      expect(headers.get("referrer-policy")).toBe("no-referrer")
      expect(headers.get("strict-transport-security")).toBeNull()
    })
  }

  test("every answer forbids guessing its type, and under https browsers keep to it", async () => {
    for (const path of ["/api/v1/payments", "/openapi.json", "/healthz", "/checkout-pages.css", "/nothing"]) {
      const { headers } = await fetch(`${secure.baseUrl}${path}`)
      expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"])
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000")
    }
  })

  inBrowser("the API reference works under its policy and asks no other host", async () => {
    const page = await newPage()
    const asked: Array<string> = []
    const complaints: Array<string> = []
    page.on("request", (request) => asked.push(request.url()))
    page.on("console", (message) => {
      if (/Content Security Policy|violates/i.test(message.text())) complaints.push(message.text())
    })
    page.on("pageerror", (error) => complaints.push(String(error)))
    await page.goto(`${service.baseUrl}/docs/reference`)
    await page.getByText("Create", { exact: false }).first().waitFor()
    await page.waitForLoadState("networkidle")
    const others = asked.filter((url) => !url.startsWith(service.baseUrl) && !/^(data|blob):/.test(url))
    expect(others).toEqual([])
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
