// The demo as a process: it pays once, and when its chain dies it says so.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { spawnProgram } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const until = (what: () => boolean, millis: number) =>
  Effect.promise(async () => {
    const start = performance.now()
    while (!what() && performance.now() - start < millis) await Bun.sleep(20)
  })

/** Process ids of the anvil that this process started. */
const anvilOf = (pid: number) =>
  Bun.spawnSync(["pgrep", "-x", "-P", String(pid), "anvil"])
    .stdout.toString()
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)

describe("bun run demo", () => {
  liveEffect("--once ends with 0 after the verified webhook", () =>
    Effect.gen(function* () {
      const demo = yield* spawnProgram(["src/app/dev/demo.ts", "--once"], {})
      yield* demo.succeeded
      expect(demo.output()).toContain("payment.settled verified")
    })
  )

  liveEffect("a killed chain ends it with a sentence and another code, not a hang", () =>
    Effect.gen(function* () {
      const demo = yield* spawnProgram(["src/app/dev/demo.ts"], {})
      yield* until(() => demo.output().includes("Webhook endpoint"), 20_000)
      for (const child of anvilOf(demo.pid)) process.kill(child, "SIGKILL")
      const code = yield* Effect.timeout(demo.exited, "10 seconds")
      expect(code).toBe(1)
      expect(demo.output()).toContain("The demo failed: the local chain (anvil) ended")
    })
  )

  liveEffect("ends with a sign-in to the dashboard that works, and payments in each state to look at", () =>
    Effect.gen(function* () {
      const demo = yield* spawnProgram(["src/app/dev/demo.ts"], {})
      yield* until(() => demo.output().includes("Ctrl-C stops everything"), 120_000)
      const found = (pattern: RegExp) => pattern.exec(demo.output())?.[1] ?? ""
      const dashboard = found(/Dashboard\s+(\S+)/)
      const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" }
      const body = JSON.stringify({ email: found(/e-mail\s+(\S+)/), password: found(/password\s+(\S+)/) })
      const shown = yield* Effect.promise(async () => {
        expect((await fetch(dashboard)).status).toBe(200)
        const signedIn = await fetch(`${dashboard}/api/sign-in`, { method: "POST", headers, body })
        expect(signedIn.status).toBe(200)
        const [merchant] = (await signedIn.json()).merchants
        const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
        const page = await fetch(`${dashboard}/api/merchants/${merchant.id}/test/overview`, {
          headers: { cookie }
        })
        return page.json()
      })
      expect(shown).toMatchObject({ settled: { count: 5, volume: "150.00" }, pending: 2 })
    })
  )

  liveEffect("Ctrl-C stops chain, database and service", () =>
    Effect.gen(function* () {
      const demo = yield* spawnProgram(["src/app/dev/demo.ts"], {})
      yield* until(() => demo.output().includes("Ctrl-C stops everything"), 30_000)
      const children = anvilOf(demo.pid)
      expect(children.length).toBeGreaterThan(0)
      yield* demo.kill("SIGINT")
      yield* Effect.timeout(demo.exited, "10 seconds")
      yield* Effect.sleep("200 millis")
      for (const child of children) expect(() => process.kill(child, 0)).toThrow()
    })
  )
})
