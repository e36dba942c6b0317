// The checkout's handling of answers that do not come from the service.
import { expect, test } from "bun:test"
import { checkoutService, ServiceError } from "../../../src/checkout/component/service.ts"

const codeOf = async (answer: () => Response) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer })
  const refused = await checkoutService(`http://127.0.0.1:${server.port}`, "pk_test_1")
    .context()
    .catch((error: unknown) => error)
  await server.stop(true)
  return refused instanceof ServiceError ? refused.refusal.code : refused
}

const page = "<html><h1>403 Forbidden</h1></html>"

test("a firewall's error page counts as unreachable, a page with status 200 as a network error", async () => {
  for (const status of [403, 405, 502])
    expect([status, await codeOf(() => new Response(page, { status }))]).toEqual([status, "UNREACHABLE"])
  expect(await codeOf(() => new Response(page))).toBe("NETWORK")
})
