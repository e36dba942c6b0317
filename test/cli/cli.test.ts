// The operator's commands as processes on one embedded database.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { spawnProgram, temporaryDirectory } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

const cli = Effect.fnUntraced(function* (dataDir: string, ...args: ReadonlyArray<string>) {
  const child = yield* spawnProgram(["src/cli/main.ts", ...args], { DATA_DIR: dataDir })
  const code = yield* child.exited
  return { code, output: child.output() }
})

describe("CLI", () => {
  liveEffect("creates a merchant, lists it, and creates, rotates and revokes its keys", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const created = yield* cli(
        dataDir,
        "merchant",
        "create",
        "--name",
        "Shop",
        "--receiver",
        receiver,
        "--json"
      )
      expect(created.code).toBe(0)
      const document = JSON.parse(created.output)
      expect(Object.keys(document).sort()).toEqual(["keys", "merchant"])
      expect(Object.keys(document.merchant).sort()).toEqual(["id", "name"])
      expect(document.keys.test.secret).toStartWith("sk_test_")
      expect(document.keys.test.publishable).toStartWith("pk_test_")
      expect(document.keys.live.secret).toStartWith("sk_live_")
      expect(document.keys.live.publishable).toStartWith("pk_live_")
      const merchant = document.merchant.id

      expect(JSON.parse((yield* cli(dataDir, "merchant", "list", "--json")).output).merchants).toMatchObject([
        { id: merchant, name: "Shop", receivers: { test: receiver, live: receiver } }
      ])
      const made = JSON.parse(
        (yield* cli(
          dataDir,
          "key",
          "create",
          "--merchant",
          merchant,
          "--env",
          "test",
          "--read-only",
          "--json"
        )).output
      )
      expect(made.key).toMatchObject({ permission: "read", env: "test" })
      const rotated = JSON.parse(
        (yield* cli(dataDir, "key", "rotate", "--merchant", merchant, "--key", made.key.id, "--json")).output
      )
      expect(rotated.revoked).toBe(made.key.id)
      expect(
        (yield* cli(dataDir, "key", "revoke", "--merchant", merchant, "--key", rotated.key.id)).code
      ).toBe(0)
      const again = yield* cli(dataDir, "key", "revoke", "--merchant", merchant, "--key", rotated.key.id)
      expect(again.code).toBe(1)
      expect(again.output).toContain("key list")
      const listed = yield* cli(dataDir, "key", "list", "--merchant", merchant, "--json")
      expect(JSON.parse(listed.output).keys).toHaveLength(6)
      expect(listed.output).not.toContain(document.keys.test.secret)
    })
  )

  liveEffect("says what is wrong and exits 1", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const checksum = yield* cli(
        dataDir,
        "merchant",
        "create",
        "--name",
        "S",
        "--receiver",
        receiver.replace("C8", "c8")
      )
      expect(checksum.code).toBe(1)
      expect(checksum.output).toContain("EIP-55")
      const unknown = yield* cli(dataDir, "key", "list", "--merchant", "01a1fc34-7205-710e-9410-874fee9a4996")
      expect(unknown.code).toBe(1)
      expect(unknown.output).toContain("merchant list")
      const endpoint = yield* cli(
        dataDir,
        "webhook",
        "regenerate-secret",
        "--merchant",
        "01a1fc34-7205-710e-9410-874fee9a4996",
        "--env",
        "test"
      )
      expect(endpoint.code).toBe(1)
      expect(endpoint.output).toContain("webhook endpoint")
    })
  )

  liveEffect("help and completions need no database", () =>
    Effect.gen(function* () {
      const help = yield* cli("/nonexistent/quittance", "--help")
      expect(help.code).toBe(0)
      expect(help.output).toContain("merchant")
      expect((yield* cli("/nonexistent/quittance", "--completions", "bash")).code).toBe(0)
    })
  )
})
