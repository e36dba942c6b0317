// The packages that the service serves: an address by content, which a lockfile records, has the same bytes for good.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { testDatabase } from "../../support/database.ts"
import { startService, type TestService } from "../../support/service.ts"

setDefaultTimeout(120_000)

const contentOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex").slice(0, 32)

describe("Packages", () => {
  const scope = Effect.runSync(Scope.make())
  const directory = mkdtempSync(join(tmpdir(), "quittance-handed-out-"))
  const dataDir = join(directory, "data")
  let service: TestService
  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService(testDatabase, { dataDir }), scope))
  })
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
  const bytesAt = async (path: string, { baseUrl } = service) => {
    const answer = await fetch(`${baseUrl}${path}`)
    return answer.status === 200 ? answer.bytes() : answer.status
  }
  const bytesOf = async (path: string, from = service) => {
    const bytes = await bytesAt(path, from)
    if (typeof bytes === "number") throw new Error(`${path} is ${bytes}`)
    return bytes
  }
  const named = async (name: string, guide = "clients") => {
    const text = await (await fetch(`${service.baseUrl}/docs/${guide}.md`)).text()
    const [, path] = new RegExp(`https?://[^/\\s]+(/packages/[0-9a-f]{32}/${name})`).exec(text) ?? []
    if (path === undefined) throw new Error(`${guide} names no ${name}`)
    return path
  }

  test("the guides name packages by content; the short addresses lead to the present ones", async () => {
    for (const [name, guide] of [
      ["client.tgz", "clients"],
      ["cli.tgz", "quickstart"],
      ["checkout.tgz", "checkout"],
      ["agent-proxy.tgz", "agents"],
      ["php.zip", "clients"],
      ["woocommerce.zip", "plugins"]
    ] as const) {
      const path = await named(name, guide)
      const bytes = await bytesOf(path)
      expect(path).toContain(contentOf(bytes))
      expect(await bytesOf(`/packages/${name}`)).toEqual(bytes)
      // The next release finds the package here.
      expect(new Uint8Array(readFileSync(join(dataDir, path)))).toEqual(bytes)
    }
  })

  test("a package of an earlier release is served unchanged, and nothing else at its address", async () => {
    const before = new TextEncoder().encode("as it was")
    const room = join(dataDir, "packages", contentOf(before))
    mkdirSync(room, { recursive: true })
    for (const name of ["client.tgz", "quittance-0.0.9-py3-none-any.whl"]) {
      writeFileSync(join(room, name), before)
      expect(await bytesOf(`/packages/${contentOf(before)}/${name}`)).toEqual(before)
    }
    writeFileSync(join(room, "client.tgz"), "damaged")
    expect(await bytesAt(`/packages/${contentOf(before)}/client.tgz`)).toBe(404)
    expect(await bytesAt(`/packages/${"0".repeat(32)}/client.tgz`)).toBe(404)
    for (const path of ["/packages/..%2f..%2fdata/x.tgz", `/packages/${contentOf(before)}/..%2fx.tgz`])
      expect(await bytesAt(path)).toBe(404)
  })

  test("a DATA_DIR that is not writable does not stop packages from being served", async () => {
    const file = join(directory, "no-directory")
    writeFileSync(file, "")
    const other = await Effect.runPromise(Scope.provide(startService(testDatabase, { dataDir: file }), scope))
    const path = await named("client.tgz")
    expect(contentOf(await bytesOf(path, other))).toBe(contentOf(await bytesOf(path)))
  })

  const npm = Bun.which("npm")
  test.skipIf(npm === null)("npm's lockfile records the address by content", async () => {
    const shop = join(directory, "shop")
    mkdirSync(shop)
    writeFileSync(join(shop, "package.json"), '{ "name": "shop", "private": true }\n')
    const url = `${service.baseUrl}${await named("client.tgz")}`
    const cache = join(directory, "npm")
    const npmRun = (...command: ReadonlyArray<string>) =>
      Bun.spawn(["npm", ...command, "--no-audit", "--no-fund", "--cache", cache], {
        cwd: shop,
        stdout: "ignore",
        stderr: "inherit"
      }).exited
    expect(await npmRun("install", url)).toBe(0)
    expect(readFileSync(join(shop, "package-lock.json"), "utf8")).toContain(`"resolved": "${url}"`)
    rmSync(cache, { recursive: true })
    expect(await npmRun("ci")).toBe(0)
  })
})
