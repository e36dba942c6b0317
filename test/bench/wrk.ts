// The load: wrk in a process of its own, sending prepared requests in turn.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { settings } from "./settings.ts"

const connections = 32

export interface LoadRequest {
  readonly method: "GET" | "POST" | "PATCH"
  readonly path: string
  readonly key: string
  readonly body?: unknown
}

export interface Sample {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

// Requests are formatted before the first is sent, so that wrk itself costs every server the same.
const lua = (file: string) => `
local requests, next = {}, 0
function init()
  for line in io.lines("${file}") do
    local method, path, key, body = line:match("^(%S+)\\t(%S+)\\t(%S+)\\t(.*)$")
    local headers = { authorization = "Bearer " .. key }
    if body == "" then body = nil else headers["content-type"] = "application/json" end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end
function request()
  next = next % #requests + 1
  return requests[next]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %f %f %f %d %d\\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, summary.requests,
    e.status + e.connect + e.read + e.write + e.timeout))
end`

/** Requests as lines: method, path, key and body. */
const linesOf = (requests: ReadonlyArray<LoadRequest>): string =>
  requests
    .map(({ method, path, key, body }) =>
      [method, path, key, body === undefined ? "" : JSON.stringify(body)].join("\t")
    )
    .join("\n")

/**
 * Loads a server for the seconds of a round.
 * @throws Error if an answer was no success, a connection broke, or `once` and requests were repeated.
 */
export const runWrk = async (options: {
  readonly url: string
  readonly directory: string
  readonly requests: ReadonlyArray<LoadRequest>
  /** True if each request does its work only the first time. */
  readonly once: boolean
}): Promise<Sample> => {
  const file = join(options.directory, "requests.tsv")
  const script = join(options.directory, "load.lua")
  writeFileSync(file, linesOf(options.requests))
  writeFileSync(script, lua(file))
  const wrk = Bun.which("wrk")
  if (wrk === null) throw new Error("The load comes from wrk: apt-get install wrk")
  const args = ["-t1", `-c${connections}`, `-d${settings.seconds}s`, "-s", script, options.url]
  const child = Bun.spawn([wrk, ...args], { stdout: "pipe", stderr: "pipe" })
  const text = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  const [perSecond, p50, p99, sent, errors] = (/RESULT (.+)/.exec(text)?.[1] ?? "").split(" ").map(Number)
  if (perSecond === undefined || p50 === undefined || p99 === undefined || errors !== 0) {
    throw new Error(`${options.url}: the load did not go well\n${text}`)
  }
  if (options.once && (sent ?? 0) > options.requests.length) {
    throw new Error(`${options.url}: ${sent} requests of ${options.requests.length} that are good for once`)
  }
  return { perSecond, p50, p99 }
}
