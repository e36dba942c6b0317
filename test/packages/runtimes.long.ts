// The packages on runtimes, compilers and bundlers from a registry: `bun run test:packages`.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buyThroughProxy } from "./buyThroughProxy.ts"
import {
  buildPackages,
  cjsShop,
  esmShop,
  project,
  run,
  shopPrints,
  strictConfig,
  typedShop
} from "./installed.ts"

setDefaultTimeout(240_000)

const versions = [
  "node@22.23.3",
  "deno@2.9.6",
  "esbuild@0.28.2",
  "typescript@5.9.3",
  "react@19.2.9",
  "react-dom@19.2.9",
  "@types/react@19.2.9",
  "vue@3.5.45",
  "@vue/server-renderer@3.5.45"
]

describe("The packages", () => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-runtimes-"))
  const bin = (name: string) => join(directory, "node_modules/.bin", name)
  const prints = (...command: ReadonlyArray<string>) => run(command, directory).output.trim()

  beforeAll(() => {
    console.log(buildPackages())
    project(
      directory,
      ["client", "checkout", "cli", "agent-proxy"],
      {
        "shop.mjs": esmShop,
        "shop.cjs": cjsShop,
        "typed.mts": typedShop("ESM"),
        "typed.cts": typedShop("CJS"),
        "esm.json": strictConfig("ESM"),
        "cjs.json": strictConfig("CJS"),
        "react.mjs": `import { createElement } from "react"
import { renderToString } from "react-dom/server"
import { QuittanceCheckout } from "@quittance/checkout/react"
console.log(renderToString(createElement(QuittanceCheckout, { baseUrl: "https://pay.example.com", intentToken: "t", publishableKey: "pk_test_x" })))`,
        "vue.mjs": `import { createSSRApp } from "vue"
import { renderToString } from "@vue/server-renderer"
import { QuittanceCheckout } from "@quittance/checkout/vue"
console.log(await renderToString(createSSRApp(QuittanceCheckout, { baseUrl: "https://pay.example.com", intentToken: "t", publishableKey: "pk_test_x" })))`,
        "react.mts": `import { createElement } from "react"
import { QuittanceCheckout } from "@quittance/checkout/react"
export const element = createElement(QuittanceCheckout, { baseUrl: "https://pay.example.com", intentToken: "t", publishableKey: "pk_test_x", onSettled: ({ state }) => void state })
// @ts-expect-error the key is missing
export const wrong = createElement(QuittanceCheckout, { baseUrl: "https://pay.example.com", intentToken: "t" })\n`
      },
      versions
    )
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  for (const [name, node] of [
    ["the machine's Node", Bun.which("node") ?? "node"],
    ["Node 22", bin("node")]
  ] as const) {
    test(`client on ${name}, ESM and CJS`, () => {
      console.log(name, prints(node, "--version"))
      expect(prints(node, "shop.mjs")).toBe(shopPrints)
      expect(prints(node, "shop.cjs")).toBe(shopPrints)
      expect(prints(node, bin("quittance"), "help")).toContain("listen")
    })
    test(`the agent proxy on ${name}`, async () => {
      const command = [node, join(directory, "node_modules/@quittance/agent-proxy/bin.js")]
      expect(await buyThroughProxy(command, directory)).toMatchObject({
        goods: "the goods",
        half: "broke off"
      })
    })
  }
  test("client on Bun", () => {
    console.log("Bun", Bun.version)
    expect(prints(process.execPath, "shop.mjs")).toBe(shopPrints)
  })
  test("client on Deno", () => {
    console.log(prints(bin("deno"), "--version").split("\n")[0])
    expect(prints(bin("deno"), "run", "--no-lock", "--node-modules-dir=manual", "-A", "shop.mjs")).toBe(
      shopPrints
    )
  })
  for (const platform of ["browser", "node"]) {
    test(`client bundled by esbuild for a ${platform}`, () => {
      const flags = ["--bundle", "--minify", "--format=esm", `--platform=${platform}`]
      expect(run([bin("esbuild"), "shop.mjs", ...flags, "--outfile=out.mjs"], directory).exitCode).toBe(0)
      console.log(`esbuild, ${platform}: ${statSync(join(directory, "out.mjs")).size} bytes minified`)
      expect(prints(bin("node"), "out.mjs")).toBe(shopPrints)
    })
  }
  for (const config of ["esm", "cjs"]) {
    test(`client's types by tsc 5.9 --strict, ${config}`, () => {
      expect(run([bin("tsc"), "-p", `${config}.json`], directory)).toEqual({ exitCode: 0, output: "" })
    })
  }
  test("checkout in React and Vue, with their types", () => {
    const element = 'intent-token="t" publishable-key="pk_test_x"'
    expect(prints(bin("node"), "react.mjs")).toContain(element)
    expect(prints(bin("node"), "vue.mjs")).toContain(element)
    const flags =
      "--strict --noEmit --module nodenext --target es2022 --lib es2023,dom --skipLibCheck react.mts"
    expect(run([bin("tsc"), ...flags.split(" ")], directory)).toEqual({ exitCode: 0, output: "" })
  })
})
