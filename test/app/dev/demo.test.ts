// The demo as a process: it pays once, and reports it if its chain dies.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { spawnDemo, spawnProgram } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const until = (what: () => boolean, millis: number) =>
  Effect.promise(async () => {
    const start = performance.now()
    while (!what() && performance.now() - start < millis) await Bun.sleep(20)
  })

/** Process ids of the programs of this name that this process started. */
const childrenOf = (pid: number, name: string) =>
  Bun.spawnSync(["pgrep", "-x", "-P", String(pid), name])
    .stdout.toString()
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map(Number)

describe("bun run demo", () => {
  liveEffect("--once exits with 0 after the verified webhook", () =>
    Effect.gen(function* () {
      const demo = yield* spawnProgram(["src/app/dev/demo.ts", "--once"], {})
      yield* demo.succeeded
      expect(demo.output()).toContain("payment.settled verified")
    })
  )

  liveEffect("a killed chain ends the demo with a sentence and a non-zero exit code, not a hang", () =>
    Effect.gen(function* () {
      const demo = yield* spawnDemo
      yield* until(() => demo.output().includes("Webhook endpoint"), 120_000)
      for (const child of childrenOf(demo.pid, "anvil")) process.kill(child, "SIGKILL")
      const code = yield* Effect.timeout(demo.exited, "60 seconds")
      expect(code).toBe(1)
      expect(demo.output()).toContain("The demo failed: the local chain (anvil) ended")
    })
  )

  liveEffect("leaves working pages, and a dashboard with something to see in every tab", () =>
    Effect.gen(function* () {
      const demo = yield* spawnDemo
      yield* until(() => demo.output().includes("Ctrl-C stops everything"), 120_000)
      const output = demo.output()
      const shown = output.slice(output.indexOf("The demo keeps running"))
      expect(output).not.toContain("INFO")
      expect(output.split("\n").length).toBeLessThanOrEqual(36)
      const matched = (pattern: RegExp) => pattern.exec(shown)?.[1] ?? ""
      yield* Effect.promise(async () => {
        for (const name of [
          "Order to pay",
          "Dashboard",
          "Payment link",
          "Counter",
          "Receipt",
          "Documentation"
        ]) {
          const answer = await fetch(matched(new RegExp(`${name}\\s+(\\S+)`)))
          expect([name, answer.status]).toEqual([name, 200])
          if (name === "Order to pay") expect(await answer.text()).toContain("<quittance-checkout")
        }
        const curl = Bun.spawnSync(["curl", "-sS", matched(/curl (\S+)/)])
        expect(curl.stdout.toString()).toBe('{"tomorrow":"sunny"}')

        const dashboard = matched(/Dashboard\s+(\S+)/)
        const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" }
        const [, email, password] = /\((\S+), (\S+)\)/.exec(shown) ?? []
        const signedIn = await fetch(`${dashboard}/api/sign-in`, {
          method: "POST",
          headers,
          body: JSON.stringify({ email, password })
        })
        expect(signedIn.status).toBe(200)
        const [merchant] = (await signedIn.json()).merchants
        const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
        const get = async (path: string) =>
          (
            await fetch(`${dashboard}/api/merchants/${merchant.id}/test${path}`, { headers: { cookie } })
          ).json()
        // The refund is proven a block or two after its transfer.
        let overview = await get("/overview")
        for (const end = Date.now() + 60_000; overview.refunded.count < 1 && Date.now() < end; ) {
          await Bun.sleep(250)
          overview = await get("/overview")
        }
        expect(overview).toMatchObject({
          settled: { count: 6, volume: "150.05" },
          refunded: { count: 1 },
          pending: 2
        })
        const rows = { links: "/payment-links", agents: "/agents", transfers: "/incoming-transfers" }
        for (const [name, path] of Object.entries(rows)) {
          let answer: Record<string, ReadonlyArray<unknown>> = await get(path)
          // A transfer is listed once it has been read.
          for (let tries = 0; tries < 120 && (answer[name]?.length ?? 0) === 0; tries++) {
            await Bun.sleep(250)
            answer = await get(path)
          }
          expect([name, (answer[name]?.length ?? 0) > 0]).toEqual([name, true])
        }
        const { deliveries } = await get("/webhooks")
        // Refused once; by now it may have been sent again.
        const refused = deliveries.filter(
          ({ attempts }: { attempts: ReadonlyArray<{ responseStatus?: number }> }) =>
            attempts.some(({ responseStatus }) => responseStatus === 503)
        )
        expect(refused).toHaveLength(1)
      })
    })
  )

  liveEffect("Ctrl-C stops the chain, the database and the service", () =>
    Effect.gen(function* () {
      const demo = yield* spawnDemo
      yield* until(() => demo.output().includes("Ctrl-C stops everything"), 120_000)
      const children = ["anvil", "postgres"].map((name) => childrenOf(demo.pid, name))
      expect(children.map(({ length }) => length)).toEqual([1, 1])
      const dashboard = /Dashboard\s+(\S+)/.exec(demo.output())?.[1] ?? ""
      yield* demo.kill("SIGINT")
      yield* Effect.timeout(demo.exited, "60 seconds")
      const ended = (child: number) => {
        try {
          return !process.kill(child, 0)
        } catch {
          return true
        }
      }
      yield* until(() => children.flat().every(ended), 20_000)
      expect(children.flat().filter((child) => !ended(child))).toEqual([])
      expect(yield* Effect.promise(() => fetch(dashboard).catch(() => "refused"))).toBe("refused")
    })
  )
})
