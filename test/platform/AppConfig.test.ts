// The environment: decoded once; a refusal names the variable in one line and never prints a secret.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Duration, Effect, Exit, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { envs, networks } from "../../src/domain/networks.ts"
import { examples } from "../../src/platform/AppConfig/examples.ts"
import { variables } from "../../src/platform/AppConfig/settings.ts"
import { type Environment, loadAppConfig } from "../../src/platform/AppConfig.ts"

setDefaultTimeout(60_000)

const root = mkdtempSync(join(tmpdir(), "quittance-config-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let count = 0
const freshDir = () => join(root, String(count++))

const load = (env: Environment) =>
  Effect.runPromiseExit(loadAppConfig(env).pipe(Effect.provide(SecureRandom.layerWebCrypto)))
const loaded = async (env: Environment) => {
  const exit = await load(env)
  if (Exit.isFailure(exit)) throw new Error(String(exit.cause))
  return exit.value
}
const refusal = async (env: Environment): Promise<string> => {
  const error = await Effect.runPromise(
    Effect.flip(loadAppConfig(env)).pipe(Effect.provide(SecureRandom.layerWebCrypto))
  )
  return error.message
}

const key32 = Buffer.alloc(32, 1).toString("base64")
const production = {
  ENVIRONMENT: "production",
  BASE_URL: "https://pay.example.com",
  DATABASE_URL: "postgres://u:p@db/q",
  INTENT_TOKEN_SECRETS: `a:${"s".repeat(32)}`,
  ENCRYPTION_KEYS: `a:${key32}`
}

describe("AppConfig", () => {
  test("an empty environment is a complete development configuration", async () => {
    const config = await loaded({ DATA_DIR: freshDir() })
    expect(config).toMatchObject({
      port: 8787,
      baseUrl: "http://localhost:8787",
      environment: "development",
      database: { _tag: "Embedded" },
      confirmations: { test: 1, live: 1 },
      finalityDepth: {},
      trustedProxyHops: 0,
      webhookAllowedHosts: []
    })
    expect(Duration.toHours(config.paymentExpiry)).toBe(24)
    expect(config.faucet.usdcAtomic).toBe(10_000_000n)
  })

  test("FINALITY_DEPTH applies to Testnet only", async () => {
    const { finalityDepth } = await loaded({ DATA_DIR: freshDir(), FINALITY_DEPTH: "7" })
    expect(finalityDepth).toEqual({ test: 7 })
  })

  test("a node that is listed twice has one vote, and is no majority by itself", async () => {
    const { rpcUrls } = await loaded({
      DATA_DIR: freshDir(),
      BASE_SEPOLIA_RPC_URLS: "https://one.example.com,https://two.example.com/v2, https://One.example.com/"
    })
    expect(rpcUrls.test).toEqual(["https://one.example.com", "https://two.example.com/v2"])
  })

  test("development secrets are generated once, readable only by their owner", async () => {
    const dataDir = freshDir()
    const all = await Promise.all(Array.from({ length: 8 }, () => loaded({ DATA_DIR: dataDir })))
    const secrets = all.map(({ intentTokenSecrets }) =>
      Redacted.value(intentTokenSecrets[0]?.secret ?? Redacted.make(""))
    )
    expect(new Set(secrets).size).toBe(1)
    expect(secrets[0]?.length).toBeGreaterThanOrEqual(32)
    expect(statSync(join(dataDir, "secrets.json")).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dataDir, "secrets.json"), "utf8")).toContain(secrets[0] ?? "-")
  })

  test("the agents' mnemonic is generated once next to existing secrets, and stored like them", async () => {
    const dataDir = freshDir()
    const words = async (env: Environment) => {
      const { walletMnemonics } = await loaded(env)
      return Option.match(walletMnemonics.test, { onNone: () => undefined, onSome: Redacted.value })
    }
    await loaded({ DATA_DIR: dataDir })
    const secrets = readFileSync(join(dataDir, "secrets.json"), "utf8")
    rmSync(join(dataDir, "agent-wallet.json"))
    const all = await Promise.all(Array.from({ length: 8 }, () => words({ DATA_DIR: dataDir })))
    expect(new Set(all).size).toBe(1)
    expect(all[0]?.split(" ")).toHaveLength(12)
    expect(statSync(join(dataDir, "agent-wallet.json")).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(dataDir, "secrets.json"), "utf8")).toBe(secrets)
    expect(await words(production)).toBeUndefined()
    const own = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    expect(await words({ ...production, AGENT_WALLET_MNEMONIC: own })).toBe(own)
    const message = await refusal({ ...production, AGENT_WALLET_MNEMONIC: own.replace("yellow", "zebra") })
    expect(message).toStartWith("AGENT_WALLET_MNEMONIC must be ")
    expect(message).not.toContain("zebra")
  })

  test("the live wallets have their own mnemonic, which is never generated", async () => {
    const [own, other] = [
      "legal winner thank year wave sausage worth useful legal winner thank yellow",
      "test test test test test test test test test test test junk"
    ]
    const dataDir = freshDir()
    const { walletMnemonics } = await loaded({ DATA_DIR: dataDir })
    expect(Option.isNone(walletMnemonics.live)).toBe(true)
    const set = { ...production, AGENT_WALLET_MNEMONIC: own }
    const { live } = (await loaded({ ...set, LIVE_WALLET_MNEMONIC: other })).walletMnemonics
    expect(Option.map(live, Redacted.value)).toEqual(Option.some(other))
    const refused =
      "LIVE_WALLET_MNEMONIC must be another mnemonic than AGENT_WALLET_MNEMONIC: put a new one there, because no wallet may be used on two networks"
    // A space from which BIP-39 derives the same wallets.
    for (const same of [own, `  ${own}\n`, own.replaceAll(" ", "\u00a0")])
      expect(await refusal({ ...set, LIVE_WALLET_MNEMONIC: same })).toBe(refused)
    const generated = Option.map(walletMnemonics.test, Redacted.value)
    expect(
      await refusal({ DATA_DIR: dataDir, LIVE_WALLET_MNEMONIC: Option.getOrElse(generated, () => "") })
    ).toBe(refused)
  })

  test("production with everything set starts", async () => {
    const config = await loaded(production)
    expect(config.database._tag).toBe("Postgres")
    expect(config.intentTokenSecrets.map((one) => one.kid)).toEqual(["a"])
  })

  for (const missing of ["BASE_URL", "DATABASE_URL", "INTENT_TOKEN_SECRETS", "ENCRYPTION_KEYS"]) {
    test(`production without ${missing} is refused in one line that names it`, async () => {
      const message = await refusal({ ...production, [missing]: undefined })
      expect(message).toStartWith(`${missing} must be `)
      expect(message).not.toContain("\n")
    })
  }

  test("sign-up is open in development, closed in production unless SIGNUP opens it", async () => {
    expect((await loaded({})).signUp).toBe("open")
    expect((await loaded({ SIGNUP: "closed" })).signUp).toBe("closed")
    expect((await loaded(production)).signUp).toBe("closed")
    expect((await loaded({ ...production, SIGNUP: "open" })).signUp).toBe("open")
    expect(await refusal({ SIGNUP: "maybe" })).toStartWith("SIGNUP must be ")
  })

  test("a stop waits for balancers in production, and for nothing in development", async () => {
    expect(Duration.toSeconds((await loaded({})).shutdownDelay)).toBe(0)
    expect(Duration.toSeconds((await loaded(production)).shutdownDelay)).toBe(3)
    expect(Duration.toSeconds((await loaded({ SHUTDOWN_DELAY: "1s" })).shutdownDelay)).toBe(1)
  })

  test("production refuses TEST_WALLET, whose buyers would have a wallet without money", async () => {
    expect(await refusal({ ...production, TEST_WALLET: "on" })).toStartWith(
      "TEST_WALLET must be unset in production"
    )
  })

  test("production refuses WEBHOOK_ALLOWED_HOSTS", async () => {
    expect(await refusal({ ...production, WEBHOOK_ALLOWED_HOSTS: "localhost:3000" })).toStartWith(
      "WEBHOOK_ALLOWED_HOSTS must be "
    )
  })

  const malformed: ReadonlyArray<readonly [string, string]> = [
    ["PORT", "0"],
    ["PORT", "65536"],
    ["PORT", "80a"],
    ["PORT", "1.5"],
    ["BASE_URL", "pay.example.com"],
    ["BASE_URL", "https://pay.example.com/path"],
    ["BASE_URL", "ftp://pay.example.com"],
    ["ENVIRONMENT", "staging"],
    ["DATABASE_URL", "mysql://hunter2@db/q"],
    ["BASE_SEPOLIA_RPC_URLS", "not-a-url-hunter2"],
    ["BASE_SEPOLIA_RPC_URLS", ","],
    ["TESTNET_CONFIRMATIONS", "65"],
    ["TESTNET_CONFIRMATIONS", "-1"],
    ["FAUCET_PRIVATE_KEY", "hunter2hunter2"],
    ["FAUCET_PRIVATE_KEY", `0x${"g".repeat(64)}`],
    ["FAUCET_USDC", "0"],
    ["FAUCET_GAS_WEI", "1e18"],
    ["INTENT_TOKEN_SECRETS", "hunter2"],
    ["INTENT_TOKEN_SECRETS", "a:short-hunter2"],
    ["INTENT_TOKEN_SECRETS", `a:${"s".repeat(32)},a:${"t".repeat(32)}`],
    ["ENCRYPTION_KEYS", "a:hunter2"],
    ["ENCRYPTION_KEYS", `a:${Buffer.alloc(31).toString("base64")}`],
    ["X402_FACTORIES", "0x12"],
    ["RELAY_WEI_PER_MERCHANT", "1e16"],
    ["LIVE_RELAY_WEI_TOTAL", "much"],
    ["RELAY_RESERVE_WEI", "1e15"],
    ["LIVE_RECEIVER_DELAY", "tomorrow"],
    ["SMTP_URL", "https://hunter2@mail"],
    ["MAIL_FROM", "shop"],
    ["TRUSTED_PROXY_HOPS", "x"],
    ["WEBHOOK_ALLOWED_HOSTS", "localhost"],
    ["PAYMENT_EXPIRY", "soon"],
    ["PAYMENT_EXPIRY", "0s"],
    ["PAYMENT_EXPIRY", "999999d"],
    ["WEBHOOK_ATTEMPT_RETENTION", "999999d"],
    ["RATE_LIMIT_PER_KEY", "0"],
    ["REDIS_URL", "hunter2"],
    ["REDIS_URL", "redis://cache/hunter2"],
    ["METRICS_PORT", "0"],
    ["METRICS_HOST", "-x"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://hunter2:4317"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "hunter2"],
    ["SHUTDOWN_DELAY", "6s"]
  ]
  for (const [variable, value] of malformed) {
    test(`${variable}=${value.slice(0, 24)} is refused by name, without its value`, async () => {
      const message = await refusal({ DATA_DIR: freshDir(), [variable]: value })
      expect(message).toStartWith(`${variable} must be `)
      expect(message).not.toContain("hunter2")
      expect(message).not.toContain("\n")
    })
  }

  test("everything that is wrong is reported at once, in a line each", async () => {
    const message = await refusal({
      DATA_DIR: freshDir(),
      PORT: "0",
      FAUCET_USDC: "none",
      REDIS_URL_FILE: "/nonexistent/hunter2"
    })
    const lines = message.split("\n").map((line) => line.split(" ")[0])
    expect(lines.toSorted()).toEqual(["FAUCET_USDC", "PORT", "REDIS_URL_FILE"])
    const missing = await refusal({ ENVIRONMENT: "production", WEBHOOK_ALLOWED_HOSTS: "localhost:3000" })
    expect(missing.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "BASE_URL",
      "DATABASE_URL",
      "INTENT_TOKEN_SECRETS",
      "ENCRYPTION_KEYS",
      "WEBHOOK_ALLOWED_HOSTS"
    ])
  })

  test("an address parameter that asks for protection but is not supported stops the start", async () => {
    const message = await refusal({
      DATA_DIR: freshDir(),
      DATABASE_URL: "postgres://u:hunter2@db/shop?ssl=true&sslmode=disable",
      DATABASE_REPLICA_URL: "postgres://replica/shop?channel_binding=require",
      REDIS_URL: "redis://:hunter2@cache?tls=true",
      SMTP_URL: "smtp://u:hunter2@mail?starttls=true"
    })
    expect(message.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "DATABASE_URL",
      "DATABASE_REPLICA_URL",
      "REDIS_URL",
      "SMTP_URL"
    ])
    expect(message).not.toContain("hunter2")
  })

  for (const [variable, example] of Object.entries(examples)) {
    test(`the example in a refusal of ${variable} can be pasted`, async () => {
      const pasted = await Bun.$`sh -c ${`printf %s ${example}`}`.text()
      const beside = variable === "DATABASE_REPLICA_URL" ? { DATABASE_URL: examples["DATABASE_URL"] } : {}
      const isProduction = variable === "ENVIRONMENT"
      const env = isProduction ? production : { DATA_DIR: freshDir(), ...beside }
      expect(Exit.isSuccess(await load({ ...env, [variable]: pasted }))).toBe(true)
    })
  }

  test("a refusal includes an example to paste, for each variable except the mnemonics", async () => {
    expect(await refusal({ DATA_DIR: freshDir(), PORT: "x" })).toBe(
      "PORT must be a port from 1 to 65535; for example PORT=8787"
    )
    const mnemonics = envs.map((env) => networks[env].wallets.setting)
    const passed = new Set<string>(["OTEL_RESOURCE_ATTRIBUTES", "POSTGRES_PASSWORD", ...mnemonics])
    expect(Object.keys(examples).toSorted()).toEqual(
      [...variables].filter((one) => !passed.has(one)).toSorted()
    )
  })

  test("explorers are those of the networks, and a chain of one's own has none", async () => {
    const explorerOf = async (nodes: string) =>
      (await loaded({ DATA_DIR: freshDir(), BASE_SEPOLIA_RPC_URLS: nodes })).explorerUrls.test
    expect((await loaded({ DATA_DIR: freshDir() })).explorerUrls).toEqual({
      test: "https://sepolia.basescan.org",
      live: "https://arbiscan.io"
    })
    for (const local of [
      "http://127.0.0.1:8545",
      "http://localhost:8545,http://[::1]:1",
      "http://chain:8545"
    ])
      expect(await explorerOf(local)).toBeNull()
    expect(await explorerOf("http://127.0.0.1:8545,https://node.example.com")).not.toBeNull()
  })

  test("several secrets keep their order, newest first", async () => {
    const config = await loaded({
      ...production,
      INTENT_TOKEN_SECRETS: `new:${"n".repeat(40)}, old:${"o".repeat(40)}`
    })
    expect(config.intentTokenSecrets.map((one) => one.kid)).toEqual(["new", "old"])
  })

  test("a printed configuration shows no secret", async () => {
    const config = await loaded({
      ...production,
      FAUCET_PRIVATE_KEY: `0x${"ab".repeat(32)}`,
      REDIS_URL: "redis://:hunter2@r"
    })
    const text = `${Bun.inspect(config, { depth: 9 })} ${JSON.stringify(config, (_, value) => (typeof value === "bigint" ? String(value) : value))}`
    for (const secret of ["ssssssss", key32, "abababab", "hunter2", "u:p@db"])
      expect(text).not.toContain(secret)
  })
})

describe("FAUCET_PRIVATE_KEY and HOST", () => {
  for (const value of [
    `0x${"f".repeat(64)}`,
    `0x${"0".repeat(64)}`,
    "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
  ]) {
    test(`a key outside the curve's order is refused by name, without its value: ${value.slice(0, 8)}…`, async () => {
      const message = await refusal({ DATA_DIR: freshDir(), FAUCET_PRIVATE_KEY: value })
      expect(message).toStartWith("FAUCET_PRIVATE_KEY must be ")
      expect(message).not.toContain(value.slice(2))
      if (BigInt(value) > 0n) expect(message).not.toContain(String(BigInt(value)))
    })
  }
  for (const host of ["999.9.9.9", "1.2.3", "a b", "::zz", "-x"]) {
    test(`HOST=${host} is refused by name`, async () => {
      expect(await refusal({ DATA_DIR: freshDir(), HOST: host })).toStartWith("HOST must be ")
    })
  }
  for (const host of ["127.0.0.1", "::1", "0.0.0.0", "localhost", "pay-1.internal"]) {
    test(`HOST=${host} is taken`, async () => {
      expect((await loaded({ DATA_DIR: freshDir(), HOST: host })).host).toBe(host)
    })
  }
})
