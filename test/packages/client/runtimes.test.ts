// The client library runs on Node unchanged, builds for browsers and workers without shims, and stays small.
import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const client = join(import.meta.dir, "../../../src/packages/client")
const entries = [join(client, "Quittance.ts"), join(client, "verifyWebhook.ts")]

const bundle = async (target: "browser" | "node", minify: boolean) => {
  const { outputs, success } = await Bun.build({
    entrypoints: entries,
    target,
    minify,
    format: "esm",
    external: []
  })
  expect(success).toBe(true)
  return Promise.all(outputs.map(async (output) => ({ name: output.path, text: await output.text() })))
}

describe("The client library", () => {
  test("builds for browsers and workers without a built-in module", async () => {
    for (const { text } of await bundle("browser", false))
      expect(text).not.toMatch(/\bfrom\s*["'](node:|bun)|require\(/)
  })

  test("is smaller than 15 kB gzipped", async () => {
    const sizes = (await bundle("browser", true)).map(({ text }) => Bun.gzipSync(text).length)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    console.log(`client library: ${total} bytes gzipped`)
    expect(total).toBeLessThan(15 * 1024)
  })

  const node = Bun.which("node")
  test.skipIf(node === null)(`passes on Node${node === null ? ": node is not installed" : ""}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "quittance-node-"))
    try {
      for (const { name, text } of await bundle("node", false)) {
        writeFileSync(join(directory, name.replace(/^.*\//, "").replace(/\.js$/, ".mjs")), text)
      }
      writeFileSync(
        join(directory, "check.mjs"),
        `import { Quittance } from "./Quittance.mjs"
import { signTestWebhook, verifyWebhook } from "./verifyWebhook.mjs"
import { createServer } from "node:http"
import assert from "node:assert"
const event = { id: "01a1fc34-7205-710e-9410-874fee9a4996", type: "test", livemode: false }
const secret = "whsec_" + Buffer.alloc(32, 1).toString("base64")
const { body, headers } = await signTestWebhook(event, secret)
assert.deepEqual(await verifyWebhook(Buffer.from(body), headers, secret), event)
await assert.rejects(verifyWebhook(body + " ", headers, secret), { reason: "no_match" })
const server = createServer((request, response) => {
  assert.equal(request.headers.authorization, "Bearer sk_test_x")
  response.setHeader("content-type", "application/json")
  if (request.url === "/api/v1/payments?limit=1") return response.end(JSON.stringify({ payments: [{ id: "a" }], hasMore: true }))
  if (request.url === "/api/v1/payments?limit=1&startingAfter=a") return response.end(JSON.stringify({ payments: [{ id: "b" }], hasMore: false }))
  response.statusCode = 404
  response.end(JSON.stringify({ error: { code: "PAYMENT_NOT_FOUND", message: "m", requestId: "r", docUrl: "d", retryable: false } }))
})
await new Promise((resolve) => server.listen(0, resolve))
const quittance = new Quittance({ key: "sk_test_x", baseUrl: "http://127.0.0.1:" + server.address().port })
const ids = []
for await (const payment of quittance.payments.list({ limit: 1 })) ids.push(payment.id)
assert.deepEqual(ids, ["a", "b"])
await assert.rejects(quittance.payments.retrieve("x"), { code: "PAYMENT_NOT_FOUND", status: 404, requestId: "r" })
server.close()
console.log("passed on node", process.version)`
      )
      const run = Bun.spawnSync([node ?? "node", join(directory, "check.mjs")])
      expect(run.stderr.toString()).toBe("")
      expect(run.stdout.toString()).toStartWith("passed on node")
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
