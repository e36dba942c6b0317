// The service and its commands as real child processes.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"

const root = join(import.meta.dir, "../..")

/** A directory that is removed with the scope. */
export const temporaryDirectory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "quittance-test-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

export interface RunningProcess {
  readonly pid: number
  /** Exit code, or 128 and the signal's number. */
  readonly exited: Effect.Effect<number>
  /** Ends with the program; fails with its output if it did not exit with 0. */
  readonly succeeded: Effect.Effect<void>
  readonly output: () => string
  /** Only standard output. */
  readonly stdout: () => string
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
}

const programs = ["src/app/main.ts", "src/app/cli/main.ts"]
const built = process.env["TEST_BUILT"]

/** A program of the project from its sources, or the one that the whole suite has built. */
export const programOf = (source: string): string =>
  built === undefined || !programs.includes(source)
    ? source
    : source.replace("src/app", built).replace(/ts$/, "js")

/** Starts one of the project's programs; it is killed with the scope. */
export const spawnProgram = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  /** A program that executes this one, like `ip netns exec`. */
  enter: ReadonlyArray<string> = []
): Effect.Effect<RunningProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    let output = ""
    let stdout = ""
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
      for await (const chunk of stream) {
        const text = decoder.decode(chunk, { stream: true })
        output += text
        if (stream === child.stdout) stdout += text
      }
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
      stdout: () => stdout,
      kill: (signal) => Effect.sync(() => child.kill(signal))
    }
  })

/** Starts the demo, and stops it with the scope as Ctrl-C does: its Postgres would outlive a kill. */
export const spawnDemo = Effect.tap(spawnProgram(["src/app/dev/demo.ts"], {}), (demo) =>
  Effect.addFinalizer(() =>
    Effect.andThen(demo.kill("SIGINT"), Effect.ignore(Effect.timeout(demo.exited, "10 seconds")))
  )
)

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
