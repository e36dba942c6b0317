// Secrets of a deployment: created once, and read from files by a service in production.
import { describe, expect } from "bun:test"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { loadAppConfig } from "../../../src/platform/AppConfig.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const init = (directory: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const program = yield* spawnProgram(["src/app/cli/main.ts", "init", "--secrets", directory], env)
    const code = yield* program.exited
    return { code, output: program.output() }
  })

const contents = (directory: string) =>
  Object.fromEntries(
    readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")])
  )

const files = (directory: string) => ({
  DATABASE_URL_FILE: join(directory, "database-url"),
  INTENT_TOKEN_SECRETS_FILE: join(directory, "intent-token-secrets"),
  ENCRYPTION_KEYS_FILE: join(directory, "encryption-keys"),
  AGENT_WALLET_MNEMONIC_FILE: join(directory, "agent-wallet-mnemonic")
})

describe("init", () => {
  liveEffect("creates every secret once, and a service in production starts with them", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporaryDirectory, "secrets")
      const first = yield* init(directory)
      expect([first.code, first.output]).toEqual([0, expect.stringContaining("created  ")])
      const made = contents(directory)
      expect(Object.keys(made).toSorted()).toEqual([
        "agent-wallet-mnemonic",
        "database-url",
        "encryption-keys",
        "intent-token-secrets",
        "postgres-password"
      ])
      expect(made["database-url"]).toContain(`:${made["postgres-password"]}@postgres:5432/`)
      for (const secret of Object.values(made)) expect(first.output).not.toContain(secret)
      for (const name of Object.keys(made)) expect(statSync(join(directory, name)).mode & 0o222).toBe(0)

      const second = yield* init(directory)
      expect([second.code, second.output]).toEqual([0, expect.not.stringContaining("created  ")])
      expect(contents(directory)).toEqual(made)

      const database = join(yield* temporaryDirectory, "database-url")
      writeFileSync(database, `${yield* ownDatabase()}\n`)
      const service = yield* spawnService({
        ENVIRONMENT: "production",
        SHUTDOWN_DELAY: "0s",
        BASE_URL: "http://pay.example.com",
        BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        ...files(directory),
        DATABASE_URL_FILE: database
      })
      yield* untilReady(service)
      expect(service.output()).toContain("BASE_URL is http://pay.example.com: without TLS")
      const other = yield* init(join(yield* temporaryDirectory, "secrets"), {
        POSTGRES_PASSWORD: "p@ss/word"
      })
      expect(other.code).toBe(0)
    })
  )

  liveEffect(
    "stores the operator's own secrets in place of the generated ones, names them, and loses none",
    () =>
      Effect.gen(function* () {
        const directory = join(yield* temporaryDirectory, "secrets")
        yield* init(directory)
        const made = contents(directory)
        const own = {
          INTENT_TOKEN_SECRETS: `mine:${"s".repeat(32)}`,
          ENCRYPTION_KEYS: `mine:${Buffer.alloc(32, 7).toString("base64")}`,
          AGENT_WALLET_MNEMONIC: `${"abandon ".repeat(11)}about`
        }
        const { code, output } = yield* init(directory, own)
        expect(code).toBe(0)
        for (const [name, value] of Object.entries(own)) {
          expect(output).toMatch(new RegExp(`^stored .+ from ${name}; the old value is in .+\\.1$`, "m"))
          expect(output).not.toContain(value)
        }
        const stored = {
          "postgres-password": made["postgres-password"] ?? "",
          "database-url": made["database-url"] ?? "",
          "intent-token-secrets": own.INTENT_TOKEN_SECRETS,
          "encryption-keys": own.ENCRYPTION_KEYS,
          "agent-wallet-mnemonic": own.AGENT_WALLET_MNEMONIC
        }
        const before = Object.fromEntries(
          ["agent-wallet-mnemonic", "encryption-keys", "intent-token-secrets"].map((name) => [
            `${name}.1`,
            made[name]
          ])
        )
        expect(contents(directory)).toEqual({ ...stored, ...before })

        const elsewhere = { DATABASE_URL: "postgres://shop:word@db.example.com/pay" }
        const again = yield* init(directory, { ...own, ...elsewhere })
        expect([again.output.match(/^unchanged/gm)?.length, again.output.match(/^stored/gm)?.length]).toEqual(
          [4, 1]
        )
        // A value that the operator once set stays stored after the variable is gone.
        yield* init(directory)
        expect(contents(directory)).toMatchObject({
          ...stored,
          "database-url": elsewhere.DATABASE_URL,
          "database-url.1": stored["database-url"]
        })
      })
  )

  liveEffect("an existing database's password is put into DATABASE_URL, escaped", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporaryDirectory, "secrets")
      yield* init(directory, { POSTGRES_PASSWORD: "p@ss/word" })
      expect(contents(directory)).toMatchObject({
        "postgres-password": "p@ss/word",
        "database-url": "postgres://quittance:p%40ss%2Fword@postgres:5432/quittance"
      })
    })
  )

  liveEffect("a password other than the database's is accepted only together with its address", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporaryDirectory, "secrets")
      yield* init(directory)
      const made = contents(directory)
      const POSTGRES_PASSWORD = "an/other"
      const alone = yield* init(directory, {
        POSTGRES_PASSWORD,
        INTENT_TOKEN_SECRETS: `new:${"s".repeat(32)}`
      })
      expect([alone.code, alone.output]).toEqual([
        1,
        expect.stringContaining("ALTER ROLE quittance PASSWORD")
      ])
      expect(alone.output).not.toContain(POSTGRES_PASSWORD)
      const elsewhere = "postgres://shop:word@db.example.com/pay"
      const beside = yield* init(directory, { POSTGRES_PASSWORD, DATABASE_URL: elsewhere })
      expect(beside.code).toBe(1)
      expect(contents(directory)).toEqual(made)

      const DATABASE_URL = "postgres://quittance:an%2Fother@postgres:5432/quittance"
      expect((yield* init(directory, { POSTGRES_PASSWORD, DATABASE_URL })).code).toBe(0)
      const stored = { "postgres-password": POSTGRES_PASSWORD, "database-url": DATABASE_URL }
      expect(contents(directory)).toMatchObject(stored)
      expect((yield* init(directory, { POSTGRES_PASSWORD })).output).not.toMatch(/^(created|stored)/m)

      // The operator's own address stays, whatever password is set later.
      yield* init(directory, { DATABASE_URL: elsewhere })
      expect((yield* init(directory, { POSTGRES_PASSWORD: "third" })).code).toBe(1)
      expect(contents(directory)).toMatchObject({ ...stored, "database-url": elsewhere })
    })
  )

  liveEffect(
    "values with which the service cannot start are refused in its words, all at once; nothing is changed",
    () =>
      Effect.gen(function* () {
        const directory = join(yield* temporaryDirectory, "secrets")
        const wrong = {
          POSTGRES_PASSWORD: "two\nlines",
          DATABASE_URL: "mysql://shop:word@db/pay",
          INTENT_TOKEN_SECRETS: "one:short",
          ENCRYPTION_KEYS: "two:bad",
          AGENT_WALLET_MNEMONIC: "test ".repeat(12)
        }
        const first = yield* init(directory, wrong)
        expect(first.code).toBe(1)
        for (const [name, value] of Object.entries(wrong)) {
          expect(first.output).toMatch(new RegExp(`^(.*Error.*)?${name} must be `, "m"))
          expect(first.output).not.toContain(value)
        }
        expect(existsSync(directory)).toBeFalse()

        // As after a restored copy, and as after a full disk.
        yield* init(directory)
        const rewrite = (file: string, text: string) => {
          rmSync(join(directory, file))
          writeFileSync(join(directory, file), text)
        }
        const secrets = `new:${"s".repeat(32)}`
        rewrite("intent-token-secrets", `${secrets}\n`)
        rewrite("encryption-keys", "\n")
        rewrite("agent-wallet-mnemonic", "abandon")
        const before = contents(directory)
        const stored = yield* init(directory, { INTENT_TOKEN_SECRETS: `other:${"o".repeat(32)}` })
        expect(stored.code).toBe(1)
        expect(stored.output).toContain(`${join(directory, "encryption-keys")} is empty`)
        expect(stored.output).toMatch(/AGENT_WALLET_MNEMONIC must be .+ \(in .+agent-wallet-mnemonic\)/)
        expect(contents(directory)).toEqual(before)

        const mended = yield* init(directory, {
          INTENT_TOKEN_SECRETS: ` ${secrets} `,
          ENCRYPTION_KEYS: `mine:${Buffer.alloc(32, 7).toString("base64")}`,
          AGENT_WALLET_MNEMONIC: `${"abandon ".repeat(11)}about`
        })
        expect([mended.code, mended.output.match(/^stored/gm)?.length]).toEqual([0, 2])
        expect(mended.output).toMatch(/^unchanged .+intent-token-secrets/m)
      })
  )

  liveEffect("half of a pair is refused, and nothing is created", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      writeFileSync(join(directory, "postgres-password"), "kept")
      const refused = yield* init(directory)
      expect([refused.code, refused.output]).toEqual([1, expect.stringContaining("has only one of")])
      expect(contents(directory)).toEqual({ "postgres-password": "kept" })
    })
  )
})

describe("a secret's file", () => {
  const refusal = (env: Readonly<Record<string, string>>) =>
    loadAppConfig(env).pipe(Effect.flip, Effect.provide(SecureRandom.layerWebCrypto))

  liveEffect("that cannot be read, or is set together with its variable, stops the start and is named", () =>
    Effect.gen(function* () {
      const missing = yield* refusal({ ENCRYPTION_KEYS_FILE: "/absent/hunter2" })
      expect(missing.message).toBe("ENCRYPTION_KEYS_FILE must be a file that the service can read")
      const directory = yield* temporaryDirectory
      const path = join(directory, "mail")
      writeFileSync(path, "https://hunter2@mail")
      const both = yield* refusal({ SMTP_URL_FILE: path, SMTP_URL: "smtp://hunter2@mail" })
      expect(both.message).toBe("SMTP_URL_FILE: SMTP_URL is set too; unset one of them")
      const wrong = yield* refusal({ SMTP_URL_FILE: path, DATA_DIR: directory })
      expect(wrong.message).toStartWith("SMTP_URL must be ")
      expect(wrong.message).not.toContain("hunter2")
    })
  )
})
