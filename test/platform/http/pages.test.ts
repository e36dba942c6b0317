// The policies of every page and document of the service.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { serviceForFile } from "../../support/forFile.ts"

setDefaultTimeout(60_000)

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
    test(`${path} cannot be framed, names no other host and sends no referrer`, async () => {
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

  test("every answer forbids guessing its type, and under https browsers stay on https", async () => {
    for (const path of ["/api/v1/payments", "/openapi.json", "/healthz", "/checkout-pages.css", "/nothing"]) {
      const { headers } = await fetch(`${secure.baseUrl}${path}`)
      expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"])
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000")
    }
  })
})
