// open-mainnet.md, step by step as written, on the rehearsal's chain: each command prints what the guide shows,
// except for figures and addresses.
import { expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

setDefaultTimeout(180_000)

const root = join(import.meta.dir, "../../..")
const guide = readFileSync(join(root, "docs/guides/open-mainnet.md"), "utf8")

/** Matches a line of the guide's output with any figures, addresses and times. */
const patternOf = (line: string) =>
  new RegExp(
    line.replaceAll(/\/link\/[\w-]+|0x[0-9a-fA-F]{40}|\d+|[.*+?^${}()|[\]\\]/g, (part) => {
      if (part.startsWith("/link/")) return "/link/[\\w-]+"
      if (part.startsWith("0x")) return "0x[0-9a-fA-F]{40}"
      return /^\d/.test(part) ? "\\d+" : `\\${part}`
    })
  )

liveEffect("an operator can follow the rehearsal: every command prints what the guide shows", () =>
  Effect.gen(function* () {
    const [port, chainPort] = [yield* freePort(0), yield* freePort(0)]
    const baseUrl = `http://localhost:${port}`
    const text = guide.replaceAll("8546", String(chainPort)).replaceAll("{base_url}", baseUrl)
    let env: Record<string, string> = {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      HOME: yield* temporaryDirectory,
      DATA_DIR: yield* temporaryDirectory,
      DATABASE_URL: yield* ownDatabase(),
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      CHAIN_PORT: String(chainPort),
      PORT: String(port)
    }
    /** Runs the command until it ends, or is stopped with everything that it has started. */
    const shell = (command: string) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const child = Bun.spawn(["setsid", "--wait", "sh", "-c", command], {
            cwd: root,
            env,
            stdout: "pipe",
            stderr: "pipe"
          })
          let output = ""
          const collect = async (stream: ReadableStream<Uint8Array>) => {
            for await (const chunk of stream) output += new TextDecoder().decode(chunk)
          }
          const ended = Promise.all([collect(child.stdout), collect(child.stderr), child.exited])
          return { child, ended, output: () => output }
        }),
        ({ child }) => Effect.promise(() => stop(child))
      )
    const stop = async (child: Bun.Subprocess) => {
      Bun.spawnSync(["pkill", "-TERM", "-s", String(child.pid)])
      child.kill("SIGTERM")
      await child.exited
    }
    const shows = async (output: () => string, lines: ReadonlyArray<string>) => {
      const missing = () => lines.filter((line) => !patternOf(line).test(output()))
      for (const end = Date.now() + 60_000; missing().length > 0 && Date.now() < end; ) await Bun.sleep(50)
      expect({ missing: missing(), output: missing().length === 0 ? "" : output() }).toEqual({
        missing: [],
        output: ""
      })
    }

    const steps = [...text.matchAll(/^```sh\n([\s\S]*?)^```\n+(?:^```text\n([\s\S]*?)^```)?/gm)].map(
      ([, command = "", output = ""]) => ({
        command: command.trim(),
        lines: output.split("\n").filter(Boolean)
      })
    )
    expect(steps.length).toBe(10)
    let merchantId = "none"
    let service: Bun.Subprocess | undefined
    for (const { command, lines } of steps) {
      if (command.includes("export ")) {
        const exported = yield* shell(`${command}\nenv -0`)
        yield* Effect.promise(() => exported.ended)
        env = Object.fromEntries(
          exported
            .output()
            .split("\0")
            .filter(Boolean)
            .map((one): [string, string] => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)])
        )
        continue
      }
      if (command.endsWith("bun run start") && service !== undefined) {
        const before = service
        yield* Effect.promise(() => stop(before))
      }
      // The service may not be ready yet when it says that Mainnet is open.
      const repeated = command.startsWith("curl ") ? `while ${command}; do sleep 0.5; done` : command
      const { child, ended, output } = yield* shell(repeated.replace("MERCHANT_ID", merchantId))
      if (command.includes("merchant create")) {
        yield* Effect.promise(() => ended)
        merchantId = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(output())?.[0] ?? "none"
      }
      if (command.endsWith("bun run start")) service = child
      yield* Effect.promise(() => shows(output, lines))
    }
    // Closed again, with nothing under way.
    const closed = async () => (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.text()
    yield* Effect.promise(async () => {
      for (const end = Date.now() + 30_000; Date.now() < end; await Bun.sleep(100))
        if ((await closed()) === '{"status":"ready"}') return
      expect(await closed()).toBe('{"status":"ready"}')
    })
  })
)
