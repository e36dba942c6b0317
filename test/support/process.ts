// The service and its commands as real child processes.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"

const root = join(import.meta.dir, "../..")

/** A directory that is gone with the scope. */
export const temporaryDirectory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "quittance-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

export interface RunningProcess {
  readonly pid: number
  /** Exit code, or 128 and the signal's number. */
  readonly exited: Effect.Effect<number>
  /** Ends with it; fails with what it printed where it did not exit with 0. */
  readonly succeeded: Effect.Effect<void>
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
}

const programs = ["src/app/main.ts", "src/app/cli/main.ts"]
const built = process.env["TEST_BUILT"]

/** A program of the project from its sources, or as the whole suite has built it. */
export const programOf = (source: string): string =>
  built === undefined || !programs.includes(source)
    ? source
    : source.replace("src/app", built).replace(/ts$/, "js")

/** Starts one of the project's programs; it is killed with the scope. */
export const spawnProgram = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  /** A program that becomes this one, as `ip netns exec` does. */
  enter: ReadonlyArray<string> = []
): Effect.Effect<RunningProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    let output = ""
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        Bun.spawn([...enter, process.execPath, ...args.map(programOf)], {
          cwd: root,
          env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
          stdout: "pipe",
          stderr: "pipe"
        })
      ),
      (running) =>
        Effect.promise(async () => {
          running.kill("SIGKILL")
          await running.exited
        })
    )
    const collect = async (stream: ReadableStream<Uint8Array>) => {
      const decoder = new TextDecoder()
      for await (const chunk of stream) output += decoder.decode(chunk, { stream: true })
    }
    const collected = Promise.all([collect(child.stdout), collect(child.stderr)]).catch(() => {})
    const exited = async () => {
      const code = await child.exited
      await collected
      return code
    }
    return {
      pid: child.pid,
      exited: Effect.promise(exited),
      succeeded: Effect.promise(async () => {
        const code = await exited()
        if (code !== 0) throw new Error(`${args.join(" ")} exited with ${code}: ${output}`)
      }),
      output: () => output,
      kill: (signal) => Effect.sync(() => child.kill(signal))
    }
  })

/** Starts the service, from its sources or as built, on a free port. */
export const spawnService = (
  env: Readonly<Record<string, string>>,
  program = "src/app/main.ts",
  { enter = [], host = "127.0.0.1" }: { readonly enter?: ReadonlyArray<string>; readonly host?: string } = {}
) =>
  Effect.gen(function* () {
    const port = yield* freePort(0)
    const child = yield* spawnProgram([program], { PORT: String(port), HOST: host, ...env }, enter)
    return { ...child, baseUrl: `http://${host}:${port}` }
  })

/** Milliseconds until `/readyz` answers 200; fails with the program's output after `timeoutMillis`. */
export const untilReady = (
  service: { readonly baseUrl: string; readonly output: () => string },
  timeoutMillis = 60_000
) =>
  Effect.promise(async () => {
    const start = performance.now()
    while (performance.now() - start < timeoutMillis) {
      const answer = await fetch(`${service.baseUrl}/readyz`).catch(() => undefined)
      if (answer?.status === 200) return performance.now() - start
      await Bun.sleep(10)
    }
    throw new Error(`not ready within ${timeoutMillis} ms: ${service.output()}`)
  })
