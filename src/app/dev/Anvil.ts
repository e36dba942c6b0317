// Runs anvil, a real EVM node, as a supervised child process from its npm package. It ends with the scope,
// and also if this process is killed: a helper shell waits on a pipe that only the parent holds open.
import { type ChildProcess, spawn } from "node:child_process"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { Deferred, Duration, Effect, type Scope } from "effect"
import { LocalChainDied, LocalChainError } from "./LocalChainError.ts"

export interface AnvilOptions {
  readonly chainId: number
  readonly mnemonic: string
  /** 0 takes a free port. */
  readonly port: number
  /** The variable to mention in the error if `port` is taken. */
  readonly portVariable: string
  /** Address to listen on; the service reaches it on loopback in any case. */
  readonly host: string
  /**
   * The number of blocks whose states anvil keeps, all in memory. By default it moves older states to disk,
   * and after a reorganisation to one of these its contracts have no code (anvil 1.7.1).
   */
  readonly statesInMemory?: number
}

export interface Anvil {
  readonly rpcUrl: string
  /** Fails when the process ends; never succeeds. */
  readonly died: Effect.Effect<never, LocalChainDied>
  /** Kills the process (SIGKILL) and waits for its end. */
  readonly kill: Effect.Effect<void>
}

const startupLimit = Duration.seconds(10)

// `exec` keeps the shell's process id for anvil, so the watcher knows which process to kill. End of file on
// the pipe means that the parent is gone; a line tells the watcher to stop.
const superviseScript = `exec 3<&0
( read -r _ <&3 || kill -9 $$ ) >/dev/null 2>&1 </dev/null &
exec 3<&- "$0" "$@" </dev/null`

const binaryPath = Effect.try({
  try: () => {
    const names = { x64: "amd64" } as const
    const cpu = arch() === "x64" ? names.x64 : arch()
    const suffix = platform() === "win32" ? ".exe" : ""
    const anvil = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json")
    return createRequire(anvil).resolve(`@foundry-rs/anvil-${platform()}-${cpu}/bin/anvil${suffix}`)
  },
  catch: () =>
    new LocalChainError({
      reason: "not_installed",
      message: `anvil is not installed for ${platform()}/${arch()}: run \`bun install\` (package @foundry-rs/anvil)`
    })
})

const launch = (binary: string, options: AnvilOptions): ChildProcess => {
  const args = [
    ["--host", options.host],
    ["--port", String(options.port)],
    ["--chain-id", String(options.chainId)],
    ["--mnemonic", options.mnemonic],
    ["--no-mining", "--no-request-size-limit", "--color", "never"],
    options.statesInMemory === undefined ? [] : ["--prune-history", String(options.statesInMemory)]
  ].flat()
  // Detached, so that Ctrl-C reaches only this process, which then ends anvil.
  return platform() === "win32"
    ? spawn(binary, args, { stdio: ["pipe", "pipe", "pipe"] })
    : spawn("/bin/sh", ["-c", superviseScript, binary, ...args], {
        stdio: ["pipe", "pipe", "pipe"],
        env: {},
        detached: true
      })
}

const failedToStart = (output: string, options: AnvilOptions): LocalChainError =>
  /address already in use/i.test(output)
    ? new LocalChainError({
        reason: "port_taken",
        message: `port ${options.port} for the local chain is taken: set ${options.portVariable} to a free port, or unset it to have one chosen`
      })
    : new LocalChainError({
        reason: "not_ready",
        message: `anvil did not start: ${output.trim().split("\n").at(-1) || "no output"}`
      })

const awaitListening = (child: ChildProcess, options: AnvilOptions): Effect.Effect<string, LocalChainError> =>
  Effect.callback<string, LocalChainError>((resume) => {
    let output = ""
    const onText = (chunk: unknown) => {
      output = (output + String(chunk)).slice(-8192)
      const port = /Listening on [\d.]+:(\d+)/.exec(output)?.[1]
      if (port !== undefined) resume(Effect.succeed(`http://127.0.0.1:${port}`))
    }
    // Keeps draining both streams, or anvil would block on a full pipe.
    child.stdout?.on("data", onText)
    child.stderr?.on("data", onText)
    child.once("error", (cause) => resume(Effect.fail(failedToStart(cause.message, options))))
    child.once("close", () => resume(Effect.fail(failedToStart(output, options))))
  }).pipe(
    Effect.timeoutOrElse({
      duration: startupLimit,
      orElse: () => Effect.fail(failedToStart(`silent for ${Duration.format(startupLimit)}`, options))
    })
  )

/** Starts anvil without block production. Ready when its RPC listens. */
export const startAnvil = Effect.fn("startAnvil")(function* (
  options: AnvilOptions
): Effect.fn.Return<Anvil, LocalChainError, Scope.Scope> {
  const binary = yield* binaryPath
  const ended = yield* Deferred.make<never, LocalChainDied>()
  const exited = yield* Deferred.make<void>()
  const kill = (child: ChildProcess) =>
    Effect.sync(() => child.kill("SIGKILL")).pipe(Effect.andThen(Deferred.await(exited)))

  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = launch(binary, options)
      started.stdin?.on("error", () => undefined)
      const settle = (how: string) => {
        started.stdin?.end("\n")
        Deferred.doneUnsafe(
          ended,
          Effect.fail(new LocalChainDied({ message: `the local chain (anvil) ended: ${how}` }))
        )
        Deferred.doneUnsafe(exited, Effect.void)
      }
      started.once("exit", (code, signal) => settle(signal ?? `exit code ${code}`))
      started.once("error", (cause) => settle(cause.message))
      return started
    }),
    kill
  )
  const rpcUrl = yield* awaitListening(child, options)
  return { rpcUrl, died: Deferred.await(ended), kill: kill(child) }
})
