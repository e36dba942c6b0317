// Runs inside a network namespace in which every address of the internet is this machine: port 443 is a canary, port
// 8443 a webhook server under a test CA. Prints one JSON line for each case; SafePost.lab.test.ts starts it and checks
// the lines.
import { connect } from "node:net"
import { gzipSync } from "node:zlib"
import { Effect } from "effect"
import type { SendOutcome } from "../../../src/webhooks/WebhookSender/SendOutcome.ts"
import { makeCertificates } from "../../support/certificates.ts"
import { scriptedDns, type Zone } from "../../support/dnsServer.ts"
import { rawReceiver } from "../../support/rawReceiver.ts"
import { gist, makeSender, requestTo } from "./egress.ts"
import addresses from "./ssrf-addresses.json"

const report = (name: string, expected: unknown, actual: unknown): void =>
  console.log(JSON.stringify({ name, expected, actual }))

const skip = (reason: string): void => console.log(JSON.stringify({ skipped: reason }))

const knock = (host: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const socket = connect({ host, port: 443 })
    const end = (): void => {
      socket.destroy()
      resume(Effect.void)
    }
    socket.once("connect", end)
    socket.once("error", end)
  })

const compressed = gzipSync(Buffer.alloc(10 * 1024 * 1024))

const answers: Record<string, string | Buffer> = {
  "/redirect": "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254:443/\r\ncontent-length: 0\r\n\r\n",
  "/long": `HTTP/1.1 500 Oops\r\ncontent-length: 9000\r\n\r\n${"abcdefgh\n".repeat(1000)}`,
  "/gzip": Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${compressed.length}\r\n\r\n`),
    compressed
  ])
}

const bodyOf = (outcome: SendOutcome): string | undefined =>
  outcome._tag === "Answered" && outcome.body ? Buffer.from(outcome.body).toString("base64") : undefined

const zoneOf = (address: string): Zone => (address.includes(":") ? { aaaa: [address] } : { a: [address] })

const lab = Effect.gen(function* () {
  const certificates = makeCertificates()
  if (certificates === undefined) return skip("all: no openssl")
  yield* Effect.addFinalizer(() => Effect.sync(certificates.remove))
  const dns = yield* scriptedDns
  const canary = yield* rawReceiver({ host: "::", port: 443 })
  const receiver = yield* rawReceiver({
    host: "::",
    port: 8443,
    tls: certificates.issue(["*.example.com"]),
    answer: (socket, request) =>
      void socket.write(
        answers[/^POST (\S+)/.exec(request)?.[1] ?? ""] ?? "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
      )
  })
  const sender = yield* makeSender({
    dns,
    certificateAuthorities: [certificates.authority],
    budgets: { totalMillis: 3_000, connectMillis: 600 }
  })
  const sendTo = (name: string, zone: Zone, port = 8443, path = "/hook") => {
    dns.set(`${name}.example.com`, zone)
    return sender.send(requestTo(`https://${name}.example.com:${port}${path}`))
  }
  const lastDialled = (): string | undefined => receiver.dialled.at(-1)?.replace(/^::ffff:/, "")

  const voidCases = Effect.gen(function* () {
    const hole = yield* sendTo("hole", { a: ["11.2.3.4"] })
    report(
      "packets into a void end with the connect budget",
      ["connect", true],
      [gist(hole), hole.durationMs >= 590 && hole.durationMs < 2_000]
    )
    const detour = yield* sendTo("detour", { a: ["11.2.3.4", "8.8.4.4"] })
    report(
      "the second address is dialled when the first is dead",
      [200, "8.8.4.4"],
      [gist(detour), lastDialled()]
    )
  })

  for (const host of ["10.1.2.3", "169.254.169.254", "192.168.0.1", "127.0.0.1", "fd00::1", "::1"])
    yield* knock(host)
  report("the canary hears knocks on private addresses", 6, canary.connections())
  const before = canary.connections()

  const first = yield* sendTo("public", { a: ["8.8.4.4"] })
  report("a public address is reached", [200, "8.8.4.4", "b2s="], [gist(first), lastDialled(), bodyOf(first)])
  const ipv6 = yield* sendTo("public6", { aaaa: ["2606:4700:4700::1111"] })
  report("a public IPv6 address is reached", [200, "2606:4700:4700::1111"], [gist(ipv6), lastDialled()])

  for (const [index, { address, public: isPublic }] of addresses.entries()) {
    const ipv4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(address)
    const inDns = ipv4
      ? address.split(".").every((part) => Number(part) < 256)
      : URL.canParse(`http://[${address}]`)
    if (!inDns) continue
    // Private addresses are tried on the canary's port and on the server's, where a connection would succeed.
    for (const port of isPublic ? [8443] : [443, 8443]) {
      const count = receiver.connections()
      const outcome = gist(yield* sendTo(`n${index}`, zoneOf(address), port))
      const reached = receiver.connections() - count
      report(`${address} port ${port}`, isPublic ? [200, 1] : ["blocked", 0], [outcome, reached])
    }
  }

  const rebinding = (asked: number): Zone => ({ a: [asked === 0 ? "8.8.4.4" : "169.254.169.254"] })
  dns.set("rebind.example.com", rebinding)
  const rebind = sender.send(requestTo("https://rebind.example.com:8443/hook"))
  const dialled = receiver.connections()
  report(
    "a name that changes between check and dial is dialled as checked",
    [200, "8.8.4.4"],
    [gist(yield* rebind), lastDialled()]
  )
  report(
    "and refused next time, though a connection is kept",
    ["blocked", 1],
    [gist(yield* rebind), receiver.connections() - dialled]
  )

  report(
    "a redirect inside is not followed",
    302,
    gist(yield* sendTo("public", { a: ["8.8.4.4"] }, 8443, "/redirect"))
  )
  const long = yield* sendTo("public", { a: ["8.8.4.4"] }, 8443, "/long")
  const kept = "abcdefgh\n".repeat(1000).slice(0, 2048)
  report("2 KiB of an answer are kept", Buffer.from(kept).toString("base64"), bodyOf(long))
  const gzip = yield* sendTo("public", { a: ["8.8.4.4"] }, 8443, "/gzip")
  report("a gzip bomb stays shut", compressed.subarray(0, 2048).toString("base64"), bodyOf(gzip))

  const wrongName = certificates.issue(["other.example.net"])
  const impostor = yield* rawReceiver({ host: "::", port: 9443, tls: wrongName })
  const refused = gist(yield* sendTo("public", { a: ["8.8.4.4"] }, 9443))
  report("another host's certificate gets no request", ["tls", 0], [refused, impostor.requests.length])

  const dead = gist(yield* sendTo("dead", { a: ["8.8.4.4"] }, 7443))
  report("nobody listens", "connect", dead)
  const { VOID } = process.env
  if (VOID === "0") yield* voidCases
  else skip("connections that are never answered: this kernel makes no veth device")

  report("the canary has heard nothing from the sender", 0, canary.connections() - before)
})

await Effect.runPromise(Effect.scoped(lab))
process.exit(0)
