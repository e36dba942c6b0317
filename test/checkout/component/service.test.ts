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

test("a firewall's page counts as unreachable, whatever its status, not as a missing connection", async () => {
  for (const status of [200, 202, 403, 405, 502])
    for (const body of [page, ""])
      expect([status, await codeOf(() => new Response(body, { status }))]).toEqual([status, "UNREACHABLE"])
})
