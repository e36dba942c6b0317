// `bun run agent-proxy`, on Node as a package: the agent's proxy, or an MCP server on stdio with `--mcp`.
import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import { Cause, Effect, Layer, Logger } from "effect"
import * as Mcp from "./Mcp.ts"
import { makePayingFetch } from "./PayingFetch.ts"
import { startProxy } from "./Proxy.ts"
import { ProxyRefusal, readSettings } from "./settings.ts"
import * as wellFormedStdio from "./wellFormedStdio.ts"

const help = `quittance-agent-proxy: pays x402 APIs for an agent, within the agent's caps.

  SERVICE_AGENT_KEY   The agent's key, ak_test_… or ak_live_…
  SERVICE_BASE_URL    The service's address
  AGENT_PROXY_PORT    The port on this machine; by default 4020
  --mcp               Run as an MCP server on standard input and output instead

Then fetch through it: curl http://127.0.0.1:4020/https://api.example.com/report`

const flags = process.argv.slice(2)
const isMcp = flags.includes("--mcp")
// In MCP mode, standard output belongs to the protocol.
const say = (line: string) => process.stderr.write(`${line}\n`)
// If nobody reads the log any longer, requests are still answered.
process.stderr.on("error", () => undefined)
const sayWithTime = (line: string) => say(`${new Date().toISOString()}  ${line}`)

const stdio = wellFormedStdio.layer.pipe(Layer.provide(NodeStdio.layer))
const toStderr = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const main = Effect.gen(function* () {
  const { serviceUrl, agentKey, port } = yield* readSettings(process.env)
  const paying = makePayingFetch({ serviceUrl, agentKey, log: sayWithTime })
  if (isMcp) return yield* Layer.launch(Mcp.layer(paying).pipe(Layer.provide([stdio, toStderr])))
  const server = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () => startProxy(paying, port),
      catch: (error) =>
        new ProxyRefusal({
          message: `The proxy cannot listen on port ${port} (${error instanceof Error ? error.message : String(error)}). Set AGENT_PROXY_PORT to a free port.`
        })
    }),
    (running) => Effect.promise(() => running.stop())
  )
  say(`The agent's proxy listens on http://127.0.0.1:${server.port}, for this machine only.
Fetch through it: curl http://127.0.0.1:${server.port}/https://api.example.com/path
${serviceUrl} signs its x402 payments within the agent's caps. Ctrl-C stops the proxy.`)
  const refusal = yield* Effect.promise(paying.whyNotSigning)
  if (refusal !== undefined) say(`Nothing can be paid now: ${refusal}`)
  return yield* Effect.never
}).pipe(Effect.scoped)

const unknown = flags.find((flag) => flag !== "--mcp")
if (unknown === "--help" || unknown === "-h") {
  process.stdout.write(`${help}\n`)
  process.exit(0)
}
if (unknown !== undefined) {
  say(`Unknown argument "${unknown}". The only flags are --mcp and --help.`)
  process.exit(2)
}

main.pipe(
  Effect.catchCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    return Effect.sync(() => {
      say(error instanceof Error ? error.message : String(error))
      process.exit(1)
    })
  }),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
