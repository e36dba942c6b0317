// Request lines and headers that break the grammar, name two hosts, or never end.
import { get, type Place, type RawOutcome, type RawRequest } from "./RawRequest.ts"

const headed = (name: string, outcome: RawOutcome, reference: string, ...lines: ReadonlyArray<string>) => ({
  name,
  reference,
  outcome,
  bytes: (place: Place) => get(place, lines)
})

/** `line` with `%` for the target. */
const requestLine = (
  name: string,
  outcome: RawOutcome,
  line: string,
  reference = "RFC 9112 3"
): RawRequest => ({
  name: `line-${name}`,
  reference,
  outcome,
  bytes: ({ host, target, lines }) => `${line.replaceAll("%", target)}\r\nHost: ${host}\r\n${lines}\r\n`
})

const hosts = (name: string, outcome: RawOutcome, ...values: ReadonlyArray<string>): RawRequest => ({
  name: `host-${name}`,
  reference: "RFC 9112 3.2",
  outcome,
  bytes: ({ target, lines }) =>
    `GET ${target} HTTP/1.1\r\n${values.map((value) => `Host: ${value}\r\n`).join("")}${lines}\r\n`
})

const lines: ReadonlyArray<RawRequest> = [
  requestLine("http-0-9", "refuse", "GET %", "RFC 9112 2.3"),
  requestLine("version-9-9", "refuse", "GET % HTTP/9.9", "RFC 9112 2.3"),
  requestLine("version-lower-case", "refuse", "GET % http/1.1", "RFC 9112 2.3"),
  requestLine("version-two-digits", "refuse", "GET % HTTP/1.10", "RFC 9112 2.3"),
  requestLine("version-hexadecimal", "refuse", "GET % HTTP/0x1.1", "RFC 9112 2.3"),
  requestLine("three-targets", "refuse", "GET % /other HTTP/1.1"),
  requestLine("nul-in-target", "refuse", "GET %\u0000 HTTP/1.1"),
  requestLine("nul-in-method", "refuse", "GE\u0000T % HTTP/1.1", "RFC 9110 9.1"),
  requestLine("bare-cr", "refuse", "GET\r% HTTP/1.1", "RFC 9112 2.2"),
  requestLine("tab-between", "separate", "GET\t% HTTP/1.1"),
  requestLine("two-spaces", "separate", "GET  % HTTP/1.1"),
  requestLine("method-in-brackets", "refuse", "G(E)T % HTTP/1.1", "RFC 9110 9.1"),
  requestLine("method-of-20-kb", "refuse", `${"G".repeat(20_000)} % HTTP/1.1`, "RFC 9112 3, CWE-770"),
  requestLine("target-of-1-mb", "refuse", `GET /${"a".repeat(1_000_000)} HTTP/1.1`, "RFC 9112 3, CWE-770"),
  requestLine("other-host-in-target", "separate", "GET http://other.example/ HTTP/1.1", "RFC 9112 3.2.2"),
  requestLine(
    "proxy-to-metadata",
    "separate",
    "GET http://169.254.169.254/latest/ HTTP/1.1",
    "CWE-441, CWE-918"
  ),
  requestLine("connect", "reject", "CONNECT 127.0.0.1:22 HTTP/1.1", "RFC 9110 9.3.6, CWE-441"),
  requestLine("trace", "reject", "TRACE % HTTP/1.1", "RFC 9110 9.3.8, CWE-693"),
  requestLine("unknown-method", "reject", "BREW % HTTP/1.1", "RFC 9110 9.1"),
  {
    name: "line-bare-lf",
    reference: "RFC 9112 2.2, CWE-444",
    outcome: "separate",
    bytes: ({ host, target }) => `GET ${target} HTTP/1.1\nHost: ${host}\n\n`
  },
  {
    name: "line-tls-on-plain",
    reference: "RFC 9112 2.2",
    outcome: "refuse",
    bytes: () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n"
  }
]

const headers: ReadonlyArray<RawRequest> = [
  headed("header-folded", "separate", "RFC 9112 5.2", "X-Probe: a", " b"),
  {
    name: "header-first-line-indented",
    reference: "RFC 9112 2.2",
    outcome: "separate",
    bytes: ({ host, target, lines: given }) =>
      `GET ${target} HTTP/1.1\r\n X-Probe: a\r\nHost: ${host}\r\n${given}\r\n`
  },
  headed("header-nul-in-value", "separate", "RFC 9110 5.5", "X-Probe: a\u0000b"),
  headed("header-cr-in-value", "separate", "RFC 9112 2.2", "X-Probe: a\rb"),
  headed("header-nul-in-name", "refuse", "RFC 9110 5.1", "X-Pro\u0000be: a"),
  headed("header-space-in-name", "refuse", "RFC 9112 5.1", "X Probe: a"),
  headed("header-space-before-colon", "refuse", "RFC 9112 5.1", "X-Probe : a"),
  headed("header-without-colon", "refuse", "RFC 9112 5", "nonsense"),
  headed("header-without-name", "refuse", "RFC 9112 5", ": a"),
  headed("header-name-beyond-ascii", "refuse", "RFC 9110 5.1", "X-Pr\u00f6be: a"),
  headed("header-of-1-mb", "reject", "RFC 6585 5, CWE-770", `X-Probe: ${"y".repeat(1_000_000)}`),
  headed("header-name-of-100-kb", "reject", "RFC 6585 5, CWE-770", `X-${"y".repeat(100_000)}: a`),
  headed(
    "headers-10000",
    "reject",
    "RFC 6585 5, CWE-770",
    ...Array.from({ length: 10_000 }, (_, n) => `X-${n}: y`)
  ),
  headed(
    "headers-100000-equal",
    "reject",
    "RFC 6585 5, CWE-770",
    ...Array.from({ length: 100_000 }, () => "X-Probe: y")
  ),
  headed(
    "header-upgrade-h2c",
    "separate",
    "RFC 9113 3.1, CWE-444",
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"
  ),
  headed(
    "header-upgrade-websocket",
    "separate",
    "RFC 6455 4.2.2, CWE-444",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 777",
    "Sec-WebSocket-Key: x"
  ),
  headed("header-expect-unknown", "separate", "RFC 9110 10.1.1", "Expect: 200-maybe"),
  headed(
    "header-range-overlap",
    "separate",
    "RFC 9110 14.2, CWE-770",
    `Range: bytes=${Array.from({ length: 1_000 }, () => "0-").join(",")}`
  )
]

const named: ReadonlyArray<RawRequest> = [
  hosts("missing", "reject"),
  hosts("two", "reject", "a.example", "b.example"),
  hosts("two-equal", "reject", "a.example", "a.example"),
  hosts("list", "reject", "a.example, b.example"),
  hosts("space-inside", "reject", "a.example b.example"),
  hosts("slash", "reject", "a.example/path"),
  hosts("user-info", "reject", "user@a.example"),
  hosts("port-no-number", "reject", "a.example:port"),
  hosts("nul", "refuse", "a.example\u0000"),
  hosts("of-50-kb", "reject", "a".repeat(50_000))
]

export const heads: ReadonlyArray<RawRequest> = [...lines, ...headers, ...named]
