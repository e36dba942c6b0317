// The packages, installed into empty projects without a registry, with the programs on this machine.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buyThroughProxy } from "./buyThroughProxy.ts"
import {
  buildPackages,
  cjsShop,
  esmShop,
  project,
  root,
  run,
  shopPrints,
  strictConfig,
  tarballOf,
  typedShop
} from "./installed.ts"

setDefaultTimeout(120_000)

const node = Bun.which("node")
const npm = Bun.which("npm")
const without = npm === null || node === null ? ": node and npm are not installed" : ""

describe.skipIf(without !== "")(`The packages${without}`, () => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-packages-"))
  const installed = (path: string) => join(directory, "node_modules/@quittance", path)

  beforeAll(() => {
    buildPackages()
    project(directory, ["client", "checkout", "cli", "agent-proxy"], {
      "shop.mjs": esmShop,
      "shop.cjs": cjsShop,
      "typed.mts": typedShop("ESM"),
      "typed.cts": typedShop("CJS"),
      "esm.json": strictConfig("ESM"),
      "cjs.json": strictConfig("CJS"),
      "element.mts": `import { loadCheckout, type CheckoutEventDetail } from "@quittance/checkout"
await loadCheckout("https://pay.example.com") satisfies void
export const told = (detail: CheckoutEventDetail): string => detail.state\n`
    })
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  test("depend on nothing, and include a licence and a README", () => {
    for (const name of readdirSync(installed(""))) {
      const manifest = JSON.parse(readFileSync(installed(`${name}/package.json`), "utf8"))
      expect(manifest.dependencies).toBeUndefined()
      expect(manifest.license).toBe("MIT")
      expect(statSync(installed(`${name}/README.md`)).size).toBeGreaterThan(100)
      expect(statSync(installed(`${name}/LICENSE`)).size).toBeGreaterThan(500)
    }
    expect(readdirSync(installed("")).toSorted()).toEqual(["agent-proxy", "checkout", "cli", "client"])
  })

  test("the client's download is smaller than 32 kB, and its module than 30 kB", () => {
    expect(statSync(tarballOf("client")).size).toBeLessThan(32_000)
    expect(statSync(installed("client/client.js")).size).toBeLessThan(30_000)
  })

  test("no package imports the service's sources", () => {
    for (const name of ["client", "checkout", "cli"])
      for (const path of readdirSync(installed(name), { recursive: true, encoding: "utf8" })) {
        if (!/\.(js|ts)$/.test(path)) continue
        expect(readFileSync(installed(`${name}/${path}`), "utf8")).not.toMatch(
          /(from|require\()\s*"(effect|viem|@effect|\.\.\/\.\.\/\.\.\/)/
        )
      }
  })

  for (const [runtime, program] of Object.entries({ node: node ?? "node", bun: process.execPath })) {
    test(`the client takes a payment on ${runtime}, as ESM and CJS`, () => {
      expect(run([program, "shop.mjs"], directory).output.trim()).toBe(shopPrints)
      expect(run([program, "shop.cjs"], directory).output.trim()).toBe(shopPrints)
    })
  }

  for (const config of ["esm", "cjs"]) {
    test(`its types pass tsc --strict in ${config.toUpperCase()}`, () => {
      expect(run([join(root, "node_modules/.bin/tsc"), "-p", `${config}.json`], directory)).toEqual({
        exitCode: 0,
        output: ""
      })
    })
  }

  test("the checkout's types pass tsc --strict too", () => {
    const flags =
      "--strict --noEmit --ignoreConfig --module nodenext --target es2022 --lib es2023,dom --types"
    expect(
      run([join(root, "node_modules/.bin/tsc"), ...flags.split(" "), "", "element.mts"], directory)
    ).toEqual({ exitCode: 0, output: "" })
  })

  test("the command line prints its help, and without a login says what to do", () => {
    const command = join(directory, "node_modules/.bin/quittance")
    const env = { PATH: process.env["PATH"], QUITTANCE_CONFIG: join(directory, "none.json") }
    expect(run([command, "help"], directory, env).output).toContain("listen")
    const refused = run([command, "payments"], directory, env)
    expect(refused.exitCode).toBe(1)
    expect(refused.output).toContain("quittance login")
    expect(run([command, "payment"], directory, env)).toEqual({
      exitCode: 2,
      output: "There is no command `payment`.\nDid you mean `quittance payments`?\n"
    })
  })

  test("the agent proxy is a command for Node", () => {
    const refused = run([join(directory, "node_modules/.bin/quittance-agent-proxy")], directory, {
      PATH: process.env["PATH"]
    })
    expect(refused).toEqual({ exitCode: 1, output: expect.stringContaining("SERVICE_AGENT_KEY") })
    expect(readFileSync(installed("agent-proxy/bin.js"), "utf8")).toStartWith("#!/usr/bin/env node\n")
  })

  for (const [runtime, program] of Object.entries({ node: node ?? "node", bun: process.execPath })) {
    test(`the agent proxy starts on ${runtime}, and speaks MCP`, () => {
      const command = [program, installed("agent-proxy/bin.js")]
      const refused = run(command, directory, { PATH: process.env["PATH"] })
      expect(refused.exitCode).toBe(1)
      expect(refused.output).toContain("SERVICE_AGENT_KEY")
      const hello = {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: {
          protocolVersion: "2025-06-18",
          capabilities: {},
          clientInfo: { name: "test", version: "1" }
        }
      }
      const spoken = Bun.spawnSync([...command, "--mcp"], {
        cwd: directory,
        stdin: Buffer.from(`${JSON.stringify(hello)}\n`),
        env: {
          PATH: process.env["PATH"] ?? "",
          SERVICE_AGENT_KEY: "ak_test_abc",
          SERVICE_BASE_URL: "https://pay.example.com"
        },
        timeout: 60_000
      })
      expect(spoken.stdout.toString()).toContain('"serverInfo"')
    })

    test(`the agent proxy on ${runtime} pays, and changes only where redirects lead`, async () => {
      expect(await buyThroughProxy([program, installed("agent-proxy/bin.js")], directory)).toEqual({
        status: 200,
        paid: "0.25",
        encoding: "gzip",
        etag: '"1"',
        goods: "the goods",
        signatures: [null, "c2lnbmVk"],
        moved: "through the proxy: /goods",
        none: 204,
        large: [413, "BODY_TOO_LARGE"],
        half: "broke off"
      })
    })
  }
})
