// The operator's commands as processes on one embedded database.

import { describe, expect } from "bun:test"
import { join } from "node:path"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { joinEmbeddedPostgres } from "../../../src/platform/database/EmbeddedPostgres.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

/** A DATA_DIR whose database runs for the whole test, so that each command joins it. */
const directory = Effect.gen(function* () {
  const dataDir = yield* temporaryDirectory
  yield* joinEmbeddedPostgres(join(dataDir, "postgres"))
  return dataDir
})

const cli = Effect.fnUntraced(function* (dataDir: string, ...args: ReadonlyArray<string>) {
  const child = yield* spawnProgram(["src/app/cli/main.ts", ...args], { DATA_DIR: dataDir })
  const code = yield* child.exited
  return { code, output: child.output(), stdout: child.stdout() }
})

describe("CLI", () => {
  liveEffect("creates a merchant, lists it, and creates, rotates and revokes its keys", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
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
      const document = JSON.parse(created.stdout)
      expect(Object.keys(document).sort()).toEqual(["keys", "merchant"])
      expect(Object.keys(document.merchant).sort()).toEqual(["id", "name"])
      expect(document.keys.test.secret).toStartWith("sk_test_")
      expect(document.keys.test.publishable).toStartWith("pk_test_")
      expect(document.keys.live.secret).toStartWith("sk_live_")
      expect(document.keys.live.publishable).toStartWith("pk_live_")
      const merchant = document.merchant.id

      expect(JSON.parse((yield* cli(dataDir, "merchant", "list", "--json")).stdout).merchants).toMatchObject([
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
        )).stdout
      )
      expect(made.key).toMatchObject({ permission: "read", env: "test" })
      const rotated = JSON.parse(
        (yield* cli(dataDir, "key", "rotate", "--merchant", merchant, "--key", made.key.id, "--json")).stdout
      )
      expect(rotated.revoked).toBe(made.key.id)
      expect(
        (yield* cli(dataDir, "key", "revoke", "--merchant", merchant, "--key", rotated.key.id)).code
      ).toBe(0)
      const again = yield* cli(dataDir, "key", "revoke", "--merchant", merchant, "--key", rotated.key.id)
      expect(again.code).toBe(1)
      expect(again.output).toContain("key list")
      const listed = yield* cli(dataDir, "key", "list", "--merchant", merchant, "--json")
      expect(JSON.parse(listed.stdout).keys).toHaveLength(6)
      expect(listed.output).not.toContain(document.keys.test.secret)
    })
  )

  liveEffect("reports what is wrong: exits 2 for a wrong command line, 1 if the command cannot be done", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const checksum = yield* cli(
        dataDir,
        "merchant",
        "create",
        "--name",
        "S",
        "--receiver",
        receiver.replace("C8", "c8")
      )
      expect(checksum.code).toBe(2)
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

  liveEffect("an argument that the database would refuse is reported as a wrong command line", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const of = ["--merchant", "01a1fc34-7205-710e-9410-874fee9a4996", "--env", "test"]
      const caps = ["--cap-per-payment", "1", "--cap-per-day", "2"]
      for (const [args, told] of [
        [["webhook", "replay", ...of, "--hours", "1e9"], "1 to 876000 hours"],
        [["webhook", "replay", ...of, "--hours", "-5"], "1 to 876000 hours"],
        [["key", "rotate", ...of.slice(0, 2), "--key", "ak_test_x"], "a UUID"],
        [["key", "revoke", ...of.slice(0, 2), "--key", "ak_test_x"], "a UUID"],
        [["key", "create", ...of, "--name", "x".repeat(101)], "1 to 100 characters"],
        [["agent", "create", ...of, ...caps, "--name", ""], "1 to 100 characters"],
        [["link", "create", ...of, "--description", "x", "--days", "1000000000"], "1 to 36500 days"],
        [["link", "create", ...of, "--description", "x".repeat(501)], "1 to 500 characters"]
      ] as const) {
        const answer = yield* cli(dataDir, ...args)
        expect({ args, code: answer.code }).toEqual({ args, code: 2 })
        expect(answer.output).toContain(told)
      }
    })
  )

  liveEffect("an unknown merchant id is an error, not an empty list", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const unknown = ["--merchant", "01a1fc34-7205-710e-9410-874fee9a4996"]
      const of = [...unknown, "--env", "test"]
      for (const args of [
        ["export", ...of, "--kind", "payments", "--from", "2026-01-01", "--to", "2026-12-31"],
        ["webhook", "replay", ...of],
        ["agent", "list", ...of],
        ["agent", "create", ...of, "--name", "One", "--cap-per-payment", "1", "--cap-per-day", "2"],
        ["audit", "list", ...unknown]
      ]) {
        const answer = yield* cli(dataDir, ...args)
        expect({ args, code: answer.code }).toEqual({ args, code: 1 })
        expect(answer.output).toContain("No merchant 01a1fc34-7205-710e-9410-874fee9a4996")
      }
    })
  )

  liveEffect("changes the receiving address, and prints it before and after", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const next = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
      const made = yield* cli(
        dataDir,
        "merchant",
        "create",
        "--name",
        "Shop",
        "--receiver",
        receiver,
        "--json"
      )
      const { id } = JSON.parse(made.stdout).merchant
      const changed = yield* cli(dataDir, "merchant", "update", "--merchant", id, "--receiver-live", next)
      expect(changed.code).toBe(0)
      expect(changed.output).toMatch(new RegExp(`live:\\s+before\\s+${receiver}\\s+after\\s+${next}`))
      expect(JSON.parse((yield* cli(dataDir, "merchant", "list", "--json")).stdout).merchants).toMatchObject([
        { receivers: { test: receiver, live: next } }
      ])
      const unknown = "01a1fc34-7205-710e-9410-874fee9a4996"
      const nobody = yield* cli(dataDir, "merchant", "update", "--merchant", unknown, "--receiver-live", next)
      expect(nobody.code).toBe(1)
      expect((yield* cli(dataDir, "merchant", "update", "--merchant", id)).code).toBe(1)
    })
  )

  liveEffect(
    "moves another merchant's address only with its owner's signature; sets rules for buyer tokens",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* directory
        const run = (...args: ReadonlyArray<string>) => cli(dataDir, ...args)
        const owner = privateKeyToAccount(generatePrivateKey())
        const create = (name: string, address: string) =>
          run("merchant", "create", "--name", name, "--receiver", address, "--json")
        yield* create("One", owner.address)
        const taken = yield* create("Two", owner.address)
        expect(taken.code).toBe(1)
        expect(taken.output).toContain("This receiving address is registered to another merchant")
        const { id } = JSON.parse((yield* create("Two", receiver)).stdout).merchant
        const change = ["merchant", "update", "--merchant", id, "--receiver-test", owner.address]
        const refused = yield* run(...change)
        expect(refused.code).toBe(1)
        // With two addresses in one command, the first may have been changed already.
        const other = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
        const half = yield* run(
          "merchant",
          "update",
          "--merchant",
          id,
          "--receiver-test",
          other,
          "--receiver-live",
          owner.address
        )
        expect([half.code, half.output]).toEqual([
          1,
          expect.stringContaining(
            `The test receiving address was changed from ${receiver} to ${other}. Nothing else was changed.`
          )
        ])
        const message = /This address is mine\.[\s\S]*Code: [0-9a-f]{32}/.exec(refused.output)?.[0] ?? ""
        expect(message).toContain(`Merchant: ${id}`)
        const signature = yield* Effect.promise(() => owner.signMessage({ message }))
        const moved = yield* run(
          ...change,
          "--signature",
          signature,
          "--bound-tokens",
          "--token-lifetime",
          "7200",
          "--json"
        )
        expect(JSON.parse(moved.stdout)).toEqual({
          merchant: { id },
          receivers: [{ env: "test", before: other, after: owner.address }],
          tokens: { boundTokensOnly: true, tokenLifetimeSeconds: 7200 }
        })
        expect((yield* run("merchant", "update", "--merchant", id, "--token-lifetime", "59")).code).toBe(2)
      })
  )

  liveEffect("creates an agent, changes its cap and prints it before and after, pauses and revokes it", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const run = (...args: ReadonlyArray<string>) => cli(dataDir, ...args)
      const made = yield* run("merchant", "create", "--name", "Shop", "--receiver", receiver, "--json")
      const merchant = JSON.parse(made.stdout).merchant.id
      const created = yield* run(
        ...["agent", "create", "--merchant", merchant, "--env", "test", "--name", "Researcher"],
        ...["--cap-per-payment", "0.5", "--cap-per-day", "5", "--allow-host", "api.example.com", "--json"]
      )
      expect(created.code).toBe(0)
      const { agent, key } = JSON.parse(created.stdout)
      expect(key).toStartWith("ak_test_")
      expect(agent).toMatchObject({
        name: "Researcher",
        status: "active",
        caps: { perPayment: "0.50", perDay: "5.00" },
        allowedHosts: ["api.example.com"],
        allowedPayees: null
      })
      const which = ["--merchant", merchant, "--agent", agent.id]
      const updated = yield* run("agent", "update", ...which, "--cap-per-day", "7", "--json")
      expect(JSON.parse(updated.stdout)).toMatchObject({
        before: { caps: { perDay: "5.00" } },
        after: { caps: { perPayment: "0.50", perDay: "7.00" } }
      })
      expect(JSON.parse((yield* run("agent", "pause", ...which, "--json")).stdout).after.status).toBe(
        "paused"
      )
      const unfunded = yield* run("agent", "fund", ...which)
      expect(unfunded.code).toBe(1)
      expect(unfunded.output).toContain("FAUCET_PRIVATE_KEY")
      expect((yield* run("agent", "revoke", ...which)).code).toBe(0)
      expect((yield* run("agent", "resume", ...which)).code).toBe(1)
      const wasted = yield* run("agent", "fund", ...which)
      expect([wasted.code, wasted.output]).toEqual([1, expect.stringContaining("is revoked")])
      const bad = yield* run("agent", "update", ...which, "--cap-per-day", "0")
      expect(bad.code).toBe(2)
    })
  )

  liveEffect("revoking an agent's key revokes the agent", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const run = (...args: ReadonlyArray<string>) => cli(dataDir, ...args)
      const made = yield* run("merchant", "create", "--name", "Shop", "--receiver", receiver, "--json")
      const merchant = JSON.parse(made.stdout).merchant.id
      yield* run(
        ...["agent", "create", "--merchant", merchant, "--env", "test", "--name", "Researcher"],
        ...["--cap-per-payment", "0.5", "--cap-per-day", "5"]
      )
      const keys: ReadonlyArray<{ readonly id: string; readonly kind: string }> = JSON.parse(
        (yield* run("key", "list", "--merchant", merchant, "--json")).stdout
      ).keys
      const key = keys.find(({ kind }) => kind === "agent")?.id ?? ""
      expect((yield* run("key", "revoke", "--merchant", merchant, "--key", key)).code).toBe(0)
      const listed = yield* run("agent", "list", "--merchant", merchant, "--env", "test", "--json")
      const { agents } = JSON.parse(listed.stdout)
      expect(agents).toMatchObject([{ name: "Researcher", status: "revoked" }])
      const which = ["--merchant", merchant, "--agent", agents[0].id]
      expect((yield* run("agent", "resume", ...which)).code).toBe(1)
    })
  )

  liveEffect("creates one-time links for people", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const made = yield* cli(
        dataDir,
        "merchant",
        "create",
        "--name",
        "Shop",
        "--receiver",
        receiver,
        "--json"
      )
      const { id } = JSON.parse(made.stdout).merchant
      const args = ["user", "create", "--email", "Ada@example.com", "--merchant", id, "--json"]
      const link = JSON.parse((yield* cli(dataDir, ...args)).stdout)
      expect(link.email).toBe("ada@example.com")
      const token = new URL(link.link).hash.slice(1)
      const linkArgs = ["--merchant", id, "--env", "test", "--json"]
      const asked = ["link", "create", ...linkArgs, "--description", "Chess lesson", "--amount", "30"]
      const { link: paymentLink } = JSON.parse((yield* cli(dataDir, ...asked)).stdout)
      expect(paymentLink).toMatchObject({ amount: "30.00", state: "open" })
      yield* cli(dataDir, "link", "close", ...linkArgs, "--link", paymentLink.id)
      const { links } = JSON.parse((yield* cli(dataDir, "link", "list", ...linkArgs)).stdout)
      expect(links).toMatchObject([{ id: paymentLink.id, state: "closed" }])
      const service = yield* spawnService({ DATA_DIR: dataDir })
      yield* untilReady(service)
      const joined = yield* Effect.promise(() =>
        fetch(`${service.baseUrl}/dashboard/api/one-time-link`, {
          method: "POST",
          headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
          body: JSON.stringify({ token, password: "a password of hers" })
        }).then((answer) => answer.json())
      )
      expect(joined).toMatchObject({ user: { email: "ada@example.com" }, merchants: [{ id }] })
      yield* service.kill("SIGTERM")
      yield* service.exited
      const reset = yield* cli(dataDir, "user", "reset-password", "--email", "ada@example.com")
      expect(reset.code).toBe(0)
      expect(reset.output).toContain("/dashboard/welcome#")
      expect((yield* cli(dataDir, "user", "reset-password", "--email", "no@example.com")).code).toBe(1)
      const app = yield* cli(dataDir, "user", "remove-authenticator", "--email", "ada@example.com")
      expect(app.code).toBe(1)
      expect(app.output).toContain("has an authenticator app. Nothing was changed.")
    })
  )

  liveEffect("help and completions need no database", () =>
    Effect.gen(function* () {
      const help = yield* cli("/nonexistent/quittance", "--help")
      expect(help.code).toBe(0)
      expect(help.output).toContain("merchant")
      for (const shell of ["bash", "zsh", "fish"]) {
        const script = yield* cli("/nonexistent/quittance", "completions", shell)
        expect(script.code).toBe(0)
        for (const command of ["merchant", "webhook", "regenerate-secret", "rotate"]) {
          expect(script.output).toContain(command)
        }
      }
      for (const args of [
        ["nonsense"],
        ["merchant", "create"],
        ["key", "list", "--nope"],
        ["completions", "tcsh"]
      ]) {
        expect((yield* cli("/nonexistent/quittance", ...args)).code).toBe(2)
      }
      for (const command of [["merchant", "update"], ["agent", "create"], ["export"]]) {
        const { code, output } = yield* cli("/nonexistent/quittance", ...command, "--help")
        expect(code).toBe(0)
        const [, flags = "", examples = ""] =
          /FLAGS([\s\S]*)EXAMPLES([\s\S]*)Flags of every command/.exec(output) ?? []
        expect(examples).toContain(`bun src/app/cli/main.ts ${command.join(" ")} `)
        for (const [flag] of examples.matchAll(/--[a-z-]+/g)) expect(flags).toContain(`${flag} `)
      }
    })
  )
})
