// The table of networks is the only place that knows what "test" and "live" are.
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { Effect } from "effect"
import { Address, type Env } from "../../src/domain/Chain.ts"
import { byEnv, envs, hasFaucet, isEnv, isTest, type Network, networks } from "../../src/domain/networks.ts"
import { layerOpenNetworks, Networks } from "../../src/platform/Networks.ts"

const root = join(import.meta.dir, "../..")

/** Comparisons that are not about a network, and why. */
const allowed: ReadonlyArray<readonly [file: string, expression: string, reason: string]> = [
  ["src/packages/cli/commands.ts", 'event.type === "test"', "a type of event"]
]

const word = /["'`](?:test|live)["'`]/.source
const comparisons = [
  new RegExp(`[!=]==?\\s*${word}`),
  new RegExp(`${word}\\s*[!=]==?`),
  new RegExp(`\\bcase\\s+${word}\\s*:`),
  // In SQL.
  /\benv\s*(?:=|<>|!=)\s*'(?:test|live)'/,
  /\bWHEN\s+'(?:test|live)'/,
  /(?:=|<>|!=)\s*'(?:test|live)'/,
  // A list of them, of `IN` or of VALUES.
  /\(\s*'(?:test|live)'/,
  // In a regular expression.
  /\((?:\?:)?(?:test\|live|live\|test)\b/
]

const violationsOf = (file: string, text: string) =>
  text
    .split("\n")
    .flatMap((line, index) =>
      comparisons.some((comparison) =>
        comparison.test(
          allowed
            .filter(([place]) => place === file)
            .reduce((rest, [, expression]) => rest.replaceAll(expression, ""), line)
        )
      )
        ? [
            `${file}:${index + 1}: ${line.trim()}\n  Ask what you want to know: \`isTest\` or \`hasFaucet\` of domain/networks.ts, a fact of \`networks[env]\`, or \`executes\` of platform/Networks.ts.`
          ]
        : []
    )

describe("an environment is compared with a word only in its table", () => {
  const files = [...new Glob("src/**/*.{ts,tsx}").scanSync(root)].filter(
    (file) => file !== "src/domain/networks.ts"
  )

  test("in every file of src", () => {
    expect(files.length).toBeGreaterThan(500)
    expect(files.flatMap((file) => violationsOf(file, readFileSync(join(root, file), "utf8")))).toEqual([])
  })

  test("an exception covers only its own expression", () => {
    const [[file, expression] = ["", ""]] = allowed
    expect(violationsOf(file, expression)).toEqual([])
    expect(violationsOf(file, `${expression} && env === "live"`)).toHaveLength(1)
  })

  test("each exception is still needed", () => {
    expect(allowed.filter(([file, part]) => !readFileSync(join(root, file), "utf8").includes(part))).toEqual(
      []
    )
  })

  for (const line of [
    'if (env === "test") return',
    'if ("live" !== payment.env) return',
    'case "live":',
    "AND p.env = 'test'",
    "CASE e.env WHEN 'test' THEN 1 END",
    "WHERE environment <> 'live'",
    "AND (m.notified_alerts = 'all' OR m.env = 'live')",
    "FROM (VALUES ('live'), ('test')) e (env)",
    "AND env IN ('test', 'live')",
    "if (!/^sk_(test|live)_/.test(key)) return",
    "/^ak_(?:live|test)_/"
  ])
    test(`the check finds it in ${line}`, () => expect(violationsOf("src/a.ts", line)).toHaveLength(1))
})

describe("the table", () => {
  test("has a row for each environment, and nothing else", () => {
    // Without a row for a new word of `Env`, neither line compiles.
    const rows: { readonly [E in Env]: Network } = networks
    const words: { readonly [E in Env]: Env } = byEnv((env) => env)
    expect(Object.keys(rows)).toEqual([...envs])
    expect(words).toEqual({ test: "test", live: "live" })
    for (const env of envs) expect(rows[env].env).toBe(env)
  })

  test("agrees with itself: CAIP-2 names, chains that differ, well-formed addresses", () => {
    for (const env of envs) {
      const { chainId, usdc, x402 } = networks[env]
      expect(x402[2]).toBe(`eip155:${chainId}`)
      expect(Address.make(usdc.address)).toBe(usdc.address)
    }
    expect(new Set(envs.map((env) => networks[env].chainId)).size).toBe(envs.length)
    expect(new Set(envs.map((env) => networks[env].wallets.setting)).size).toBe(envs.length)
  })

  test("knows an environment from any other text", () => {
    expect(envs.every(isEnv)).toBe(true)
    for (const text of ["Test", "live ", "", undefined]) expect(isEnv(text)).toBe(false)
  })

  test("Mainnet is no test, and has no faucet", () => {
    expect(envs.filter(isTest)).toEqual(["test"])
    expect(envs.filter(hasFaucet)).toEqual(["test"])
  })
})

describe("the networks that execute payments", () => {
  test("are by default Testnet only", () => {
    const { executes, executing } = Effect.runSync(Effect.service(Networks))
    expect(executing).toEqual(["test"])
    expect(envs.filter(executes)).toEqual(["test"])
  })

  test("include those that the operator has opened", () => {
    const { executes, executing } = Effect.runSync(
      Effect.service(Networks).pipe(Effect.provide(layerOpenNetworks(["live"])))
    )
    expect(executing).toEqual(["test", "live"])
    expect(envs.filter(executes)).toEqual(["test", "live"])
  })
})
