// Chunked bodies that are spelled wrongly, or oddly.
import { post, type RawOutcome, type RawRequest } from "./RawRequest.ts"

const chunked = (
  name: string,
  outcome: RawOutcome,
  body: string,
  reference = "RFC 9112 7.1, CWE-444"
): RawRequest => ({
  name: `chunk-${name}`,
  reference,
  outcome,
  bytes: (place) => post(place, ["Transfer-Encoding: chunked"], body)
})

const end = "0\r\n\r\n"
/** Five bytes under a size of this spelling. */
const sized = (name: string, outcome: RawOutcome, size: string, reference?: string) =>
  chunked(name, outcome, `${size}\r\nhello\r\n${end}`, reference)

export const chunks: ReadonlyArray<RawRequest> = [
  sized("size-plus", "refuse", "+5"),
  sized("size-minus", "refuse", "-5"),
  sized("size-hex-prefix", "refuse", "0x5"),
  sized("size-underscore", "refuse", "5_"),
  sized("size-no-number", "refuse", "zz"),
  sized("size-empty", "refuse", ""),
  sized("size-quoted", "refuse", '"5"'),
  sized("size-decimal-point", "refuse", "5.0"),
  sized("size-leading-space", "refuse", " 5"),
  sized("size-leading-tab", "refuse", "\t5"),
  sized("size-nul", "refuse", "5\u0000"),
  sized("size-space-inside", "refuse", "0 5"),
  sized("size-wraps-32-bits", "wait", "100000005", "RFC 9112 7.1, CWE-190"),
  sized("size-wraps-64-bits", "refuse", "10000000000000005", "RFC 9112 7.1, CWE-190"),
  sized("size-all-ones", "refuse", "ffffffffffffffff", "RFC 9112 7.1, CWE-190"),
  sized("size-signed-minimum", "refuse", "8000000000000000", "RFC 9112 7.1, CWE-190"),
  sized("size-leading-zeros", "separate", `${"0".repeat(20)}5`),
  sized("size-trailing-space", "separate", "5 "),
  sized("extension", "separate", "5;name=value", "RFC 9112 7.1.1, CWE-444"),
  sized("extension-quoted", "separate", '5;name="a;b"', "RFC 9112 7.1.1, CWE-444"),
  sized("extension-of-100-kb", "separate", `5;${"x".repeat(100_000)}`, "RFC 9112 7.1.1, CVE-2024-22019"),
  chunked("extension-bare-lf", "refuse", `5;a\nhello\r\n${end}`, "RFC 9112 7.1.1, CWE-444"),
  chunked("extension-bare-cr", "refuse", `5;a\rb\r\nhello\r\n${end}`, "RFC 9112 7.1.1, CWE-444"),
  chunked("size-bare-lf", "refuse", `5\nhello\r\n${end}`),
  chunked("size-bare-cr", "refuse", `5\rhello\r\n${end}`),
  chunked("data-without-end", "refuse", `5\r\nhello${end}`),
  chunked("data-bare-lf", "refuse", `5\r\nhello\n${end}`),
  chunked("data-other-end", "refuse", `5\r\nhelloXX${end}`),
  chunked("data-longer", "refuse", `3\r\nhello\r\n${end}`),
  chunked("last-without-end", "refuse", "0\r\n"),
  chunked("last-bare-lf", "refuse", "0\n\n"),
  chunked("last-of-many-zeros", "separate", `5\r\nhello\r\n${"0".repeat(16)}\r\n\r\n`),
  chunked("trailer-length", "separate", "0\r\nContent-Length: 40\r\n\r\n", "RFC 9110 6.5.1, CWE-444"),
  chunked("trailer-coding", "separate", "0\r\nTransfer-Encoding: chunked\r\n\r\n", "RFC 9110 6.5.1, CWE-444"),
  chunked("trailer-host", "separate", "0\r\nHost: other.example\r\n\r\n", "RFC 9110 6.5.1, CWE-444"),
  chunked("trailer-without-colon", "refuse", "0\r\nnonsense\r\n\r\n", "RFC 9112 7.1.2, CWE-444"),
  chunked(
    "trailers-10000",
    "refuse",
    `0\r\n${"x-probe: y\r\n".repeat(10_000)}\r\n`,
    "RFC 9112 7.1.2, CWE-770"
  )
]
