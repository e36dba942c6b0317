// The sender in a network namespace of its own, in which private and public addresses all answer: refused addresses
// could have been reached, and reached ones have a valid certificate. Linux with unshare and ip.
import { describe, expect, test } from "bun:test"
import { Result, Schema } from "effect"

const labLine = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ name: Schema.String, expected: Schema.Unknown, actual: Schema.Unknown }),
    Schema.Struct({ skipped: Schema.String })
  ])
)

const setUp = [
  "ip link set lo up",
  "ip route add local 0.0.0.0/0 dev lo",
  "ip -6 route add local ::/0 dev lo"
].join(" && ")

/** A network that drops packets, for connections that are never answered; not every kernel has one. */
const setUpVoid = [
  "ip link add void0 type veth peer name void1",
  "ip link set void0 up",
  "ip link set void1 up",
  "ip route add 11.2.3.0/24 dev void0"
].join(" && ")

/** A shell inside a new network namespace; without root, a user namespace grants the right to it. */
const inNamespace = (command: string): ReadonlyArray<string> => {
  const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]
  return [
    "unshare",
    ...asRoot,
    "--net",
    "sh",
    "-c",
    `${setUp} && { ${setUpVoid}; VOID=$?; export VOID; ${command}; }`
  ]
}

/** The reason that the lab cannot run here, or undefined. */
const obstacle = (): string | undefined => {
  for (const tool of ["unshare", "ip", "openssl"]) {
    if (Bun.which(tool) === null) return `${tool} is not on this machine`
  }
  const { exitCode, stderr } = Bun.spawnSync([...inNamespace("true")])
  return exitCode === 0 ? undefined : `no network namespace here: ${stderr.toString().trim()}`
}

describe("egress lab", () => {
  const reason = obstacle()
  if (reason !== undefined) {
    console.log(`egress lab skipped: ${reason}`)
    test.skip(`skipped: ${reason}`, () => {})
    return
  }

  test("every case in the namespace", async () => {
    const script = new URL("./egressLab.ts", import.meta.url).pathname
    const child = Bun.spawn([...inNamespace(`exec "${process.execPath}" "${script}"`)], { stderr: "inherit" })
    const text = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    const lines = text.trim().split("\n")
    const cases = lines.map((line) => Result.getOrThrow(Schema.decodeUnknownResult(labLine)(line)))
    const actual = cases.map((each) => ("skipped" in each ? each : { name: each.name, result: each.actual }))
    const expected = cases.map((each) =>
      "skipped" in each ? each : { name: each.name, result: each.expected }
    )
    expect(actual).toEqual(expected)
    console.log(`egress lab: ${cases.length} cases`)
    for (const each of cases) if ("skipped" in each) console.log(`egress lab skipped: ${each.skipped}`)
    expect(cases.length).toBeGreaterThan(300)
    expect(cases.at(-1)).toMatchObject({ name: "the canary has heard nothing from the sender", actual: 0 })
  }, 180_000)
})
