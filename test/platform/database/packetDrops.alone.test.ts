// The path to the database drops packets in the kernel: no error, no end, no answer. The service runs in a network
// namespace of its own; frames to its address on the database's side are dropped.
import { describe, expect } from "bun:test"
import { spawnSync } from "node:child_process"
import { Effect } from "effect"
import { databaseWorld, expectOutage, isServed, servedAfter } from "../../support/databaseWorld.ts"
import { noteOutage } from "../../support/faultTable.ts"
import { liveEffect } from "../../support/run.ts"

const ip = (...args: ReadonlyArray<string>) => {
  const { status, stderr } = spawnSync("ip", args, { encoding: "utf8" })
  return status === 0 ? undefined : (stderr ?? "no ip command")
}

const name = `qt${process.pid}`
/** One link for the database, one for HTTP: only the database's drops packets. */
const links = [
  { device: `${name}d`, host: "10.213.77.1", inside: "10.213.77.2" },
  { device: `${name}h`, host: "10.213.78.1", inside: "10.213.78.2" }
] as const
const [database, http] = links

const remove = () => {
  ip("netns", "del", name)
  for (const { device } of links) ip("link", "del", device)
}
const make = () => {
  const steps = [
    ["netns", "add", name],
    ["-n", name, "link", "set", "lo", "up"],
    ...links.flatMap(({ device, host, inside }) => [
      ["link", "add", device, "type", "veth", "peer", "name", `${device}i`],
      ["link", "set", `${device}i`, "netns", name],
      ["addr", "add", `${host}/30`, "dev", device],
      ["link", "set", device, "up"],
      ["-n", name, "addr", "add", `${inside}/30`, "dev", `${device}i`],
      ["-n", name, "link", "set", `${device}i`, "up"]
    ])
  ]
  for (const step of steps) {
    const failure = ip(...step)
    if (failure !== undefined) return `ip ${step.join(" ")}: ${failure.trim()}`
  }
  return undefined
}
const refusal = make()
remove()
const why = refusal === undefined ? "" : `: no network namespace here (${refusal})`

const namespace = Effect.acquireRelease(
  Effect.sync(() => {
    expect(make()).toBeUndefined()
  }),
  () => Effect.sync(remove)
)
const nobody = "02:00:00:00:00:01"
const drop = Effect.sync(() => {
  for (const failure of [
    ip("neigh", "replace", database.inside, "lladdr", nobody, "dev", database.device, "nud", "permanent"),
    ip(
      "-n",
      name,
      "neigh",
      "replace",
      database.host,
      "lladdr",
      nobody,
      "dev",
      `${database.device}i`,
      "nud",
      "permanent"
    )
  ])
    expect(failure).toBeUndefined()
})
const carry = Effect.sync(() => {
  ip("neigh", "del", database.inside, "dev", database.device)
  ip("-n", name, "neigh", "del", database.host, "dev", `${database.device}i`)
})

describe.skipIf(why !== "")(`packets dropped in the kernel${why}`, () => {
  for (const seconds of process.env["FAULTS"] === "all" ? [8, 40] : [8]) {
    liveEffect(
      `for ${seconds} s: 503 until they end, no answer after long, serving again without a restart`,
      () =>
        Effect.gen(function* () {
          yield* namespace
          const { answers, stop } = yield* databaseWorld({
            proxyHost: database.host,
            serviceHost: http.inside,
            enter: ["ip", "netns", "exec", name]
          })
          yield* drop
          yield* Effect.sleep(`${seconds} seconds`)
          expect(answers.at(-1)?.status).toBe(503)
          const since = performance.now()
          yield* carry
          yield* Effect.sleep(process.env["FAULTS"] === "all" ? "15 seconds" : "10 seconds")
          yield* stop
          noteOutage(`packets dropped in the kernel for ${seconds} s`, answers, since)
          expectOutage(answers)
          expect(servedAfter(answers, since)).toBeLessThan(15_000)
          expect(isServed(answers.at(-1)?.status ?? 0)).toBeTrue()
        }).pipe(Effect.scoped)
    )
  }
})
