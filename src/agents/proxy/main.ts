// `bun run agent-proxy`: the agent's proxy; with `--mcp` an MCP server on stdio.
import { BunRuntime, BunStdio } from "@effect/platform-bun"
import { Cause, Effect, Layer, Logger } from "effect"
import * as Mcp from "./Mcp.ts"
import { makePayingFetch } from "./PayingFetch.ts"
import { startProxy } from "./Proxy.ts"
import { readSettings } from "./settings.ts"
import * as wellFormedStdio from "./wellFormedStdio.ts"

const isMcp = process.argv.includes("--mcp")
// Standard output belongs to the protocol when it speaks MCP.
const say = (line: string) => process.stderr.write(`${line}\n`)
const stamped = (line: string) => say(`${new Date().toISOString()}  ${line}`)

const stdio = wellFormedStdio.layer.pipe(Layer.provide(BunStdio.layer))
const toStderr = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const main = Effect.gen(function* () {
  const { serviceUrl, agentKey, port } = yield* readSettings(process.env)
  const paying = makePayingFetch({ serviceUrl, agentKey, log: stamped })
  if (isMcp) return yield* Layer.launch(Mcp.layer(paying).pipe(Layer.provide([stdio, toStderr])))
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => startProxy(paying, port)),
    (running) => Effect.promise(() => running.stop(true))
  )
  say(`The agent's proxy listens on http://127.0.0.1:${server.port}, for this machine alone.
Fetch through it: curl http://127.0.0.1:${server.port}/https://api.example/path
It pays x402 within the agent's cap at ${serviceUrl}. Ctrl-C stops it.`)
  return yield* Effect.never
}).pipe(Effect.scoped)

main.pipe(
  Effect.catchCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    return Effect.sync(() => {
      say(error instanceof Error ? error.message : String(error))
      process.exit(1)
    })
  }),
  BunRuntime.runMain({ disableErrorReporting: true })
)
