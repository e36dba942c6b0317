// The published document: it passes the linter, is complete, and matches the error catalogue.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Predicate } from "effect"
import { Api } from "../../../src/app/Api.ts"
import { contractDocument, openApiDocument } from "../../../src/app/openapi/Documents.ts"
import { errorCodes } from "../../../src/domain/ErrorCode.ts"
import * as Errors from "../../../src/domain/Errors.ts"
import { endpointsOf } from "../../../src/platform/http/Routing/pathTable.ts"
import { send } from "../../support/contractCheck.ts"
import { testDatabase } from "../../support/database.ts"
import { liveEffect } from "../../support/run.ts"
import { startService } from "../../support/service.ts"
import { makeShop } from "./shop.ts"

setDefaultTimeout(60_000)

const directory = mkdtempSync(join(tmpdir(), "quittance-openapi-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const baseUrl = "https://pay.quittance.dev"
const published = JSON.stringify(Effect.runSync(openApiDocument(baseUrl)))
// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked here
const document: any = JSON.parse(JSON.stringify(Effect.runSync(contractDocument(baseUrl))))

/** The value with its references replaced by their targets. */
const dereferenced = (value: unknown, root: object): unknown => {
  if (Array.isArray(value)) return value.map((one) => dereferenced(one, root))
  if (!Predicate.isObject(value)) return value
  const { $ref } = value as { readonly $ref?: string }
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, dereferenced(one, root)]))
  const target = $ref
    .split("/")
    .slice(1)
    .reduce<unknown>((at, key) => Object(at)[key], root)
  return dereferenced(target, root)
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON document is walked here
const operations: ReadonlyArray<any> = Object.values(document.paths).flatMap((item: any) =>
  Object.values(item)
)
const versioned = operations.filter(({ operationId }) => !operationId.startsWith("system."))

describe("OpenAPI", () => {
  test("passes the linter's recommended rules without an error", () => {
    const file = join(directory, "openapi.json")
    writeFileSync(file, published)
    const lint = Bun.spawnSync(
      [process.execPath, "node_modules/@redocly/cli/bin/cli.js", "lint", file, "--format=json"],
      {
        env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
      }
    )
    const { totals } = JSON.parse(lint.stdout.toString())
    expect(totals.errors).toBe(0)
  }, 180_000)

  test("is below 150 kB, and its shared components do not change the contract", () => {
    expect(published.length).toBeLessThan(150_000)
    const { paths, webhooks } = JSON.parse(published)
    for (const [name, part] of Object.entries({ paths, webhooks }))
      expect(dereferenced(part, JSON.parse(published))).toEqual(dereferenced(document[name], document))
  })

  const schemesOf = (operationId: string) => {
    const access = endpointsOf(Api).find(({ name }) => name === operationId)?.access
    if (access?.by !== "key") return []
    return access.kinds.map((kind) => ({ [`${kind}Key`]: access.manage === true ? ["manage"] : [] }))
  }

  test("each operation has a summary, its group's description, the kinds of key that it accepts, and whether they need full access", () => {
    for (const operation of operations) {
      expect(operation.summary).toBeString()
      expect(operation.tags).toHaveLength(1)
      expect(operation.security).toEqual(schemesOf(operation.operationId))
    }
    for (const tag of document.tags) expect(tag.description).toBeString()
  })

  test("each operation declares a success, the envelope for its errors, and their codes", () => {
    for (const operation of versioned) {
      const statuses = Object.keys(operation.responses)
      expect(statuses.some((status) => status.startsWith("2"))).toBe(true)
      expect(statuses).toContain("500")
      for (const status of statuses.filter((one) => Number(one) >= 400 && one !== "402")) {
        const { schema } = operation.responses[status].content["application/json"]
        expect(schema.allOf[0].$ref).toBe("#/components/schemas/ErrorEnvelope")
        expect(schema.allOf[1].properties.error.properties.code.enum.length).toBeGreaterThan(0)
      }
    }
  })

  test("every code of the catalogue has an error class and says what the caller should do", () => {
    const raised = new Set(Object.values(Errors).map((one) => ("code" in one ? one.code : "")))
    for (const [code, { summary, status }] of Object.entries(errorCodes)) {
      if (status !== 202) expect(raised).toContain(code as never)
      expect(summary.length).toBeGreaterThan(20)
    }
  })

  liveEffect("every code is on the error page, and in production plain http is refused", () =>
    Effect.gen(function* () {
      const database = testDatabase

      const service = yield* startService(database, { environment: "production" })
      const page = yield* Effect.promise(() => send(service.baseUrl, { method: "GET", path: "/docs/errors" }))
      for (const code of Object.keys(errorCodes)) expect(page.text).toContain(`id="${code}"`)
      const shop = yield* Effect.flatMap(service.newMerchant, (merchant) =>
        Effect.promise(() => makeShop(service, merchant))
      )
      const create = (intentUrl: string) =>
        Effect.promise(() =>
          shop.call({
            method: "POST",
            path: "/api/v1/payment-intents",
            key: shop.keys.full,
            body: { amount: "1", intentUrl }
          })
        )
      expect((yield* create("http://localhost:3000/")).body.error.details?.[0]?.path).toBe("body.intentUrl")
      expect((yield* create("https://shop.example.com/")).status).toBe(201)
    })
  )
})
