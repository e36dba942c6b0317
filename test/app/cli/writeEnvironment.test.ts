// `init --env`: one file from which a service in production starts.
import { describe, expect } from "bun:test"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const init = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* spawnProgram(["src/app/cli/main.ts", "init", ...args], {})
    const code = yield* program.exited
    return { code, output: program.output() }
  })

describe("init --env", () => {
  liveEffect("writes a file with fresh secrets and a comment for each, and a service starts with it", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryDirectory, "quittance.env")
      const databaseUrl = yield* ownDatabase()
      const args = ["--env", file, "--base-url", "https://pay.example.com", "--database-url", databaseUrl]
      const { code, output } = yield* init(args)
      expect([code, output]).toEqual([0, expect.stringContaining("run cli doctor")])
      expect(statSync(file).mode & 0o777).toBe(0o600)
      const text = readFileSync(file, "utf8")
      const set = Object.fromEntries(
        [...text.matchAll(/^([A-Z_]+)=(.+)$/gm)].map(([, name = "", value = ""]) => [name, value])
      )
      expect(Object.keys(set)).toEqual([
        "ENVIRONMENT",
        "BASE_URL",
        "DATABASE_URL",
        "INTENT_TOKEN_SECRETS",
        "ENCRYPTION_KEYS",
        "AGENT_WALLET_MNEMONIC"
      ])
      // Every variable, also a disabled one, comes after a comment that explains it; no secret is printed.
      for (const [, name = ""] of text.matchAll(/^(?:# )?([A-Z_]+)=/gm)) expect(output).toContain(name)
      for (const name of ["INTENT_TOKEN_SECRETS", "ENCRYPTION_KEYS", "AGENT_WALLET_MNEMONIC"])
        expect(output).not.toContain(set[name] ?? "-")

      const child = Bun.spawn([process.execPath, `--env-file=${file}`, "-p", "JSON.stringify(process.env)"], {
        env: {}
      })
      const read: unknown = yield* Effect.promise(() => new Response(child.stdout).json())
      expect(read).toMatchObject(set)

      const service = yield* spawnService({
        ...set,
        SHUTDOWN_DELAY: "0s",
        BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9"
      })
      yield* untilReady(service)

      const again = yield* init(args)
      expect([again.code, again.output]).toEqual([1, expect.stringContaining("already exists")])
      expect(readFileSync(file, "utf8")).toBe(text)
    })
  )

  liveEffect("a value that the service would refuse is not written", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryDirectory, "quittance.env")
      const bare = yield* init(["--env", file])
      expect(bare.code).toBe(1)
      expect(bare.output).toContain("BASE_URL must be ")
      expect(bare.output).toContain("DATABASE_URL must be ")
      const quoted = yield* init([
        ...["--env", file, "--base-url", "https://pay.example.com"],
        ...["--database-url", "postgres://u:pa$$word@db/q"]
      ])
      expect([quoted.code, quoted.output]).toEqual([1, expect.stringContaining("Percent-encode")])
      expect(existsSync(file)).toBe(false)
      const none = yield* init([])
      expect([none.code, none.output]).toEqual([1, expect.stringContaining("--env FILE")])
    })
  )
})
