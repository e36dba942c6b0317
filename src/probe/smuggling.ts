// Messages whose end two readers may see in two places: lengths and codings.
import { type Place, post, type RawOutcome, type RawRequest, smuggledIn } from "./RawRequest.ts"

/** The last chunk, then a request that only a reader of lengths takes for a body. */
const chunksThenRequest = (place: Place): string => `0\r\n\r\n${smuggledIn(place)}`

const chunkOf = (data: string): string => `${data.length.toString(16)}\r\n${data}\r\n0\r\n\r\n`

/** A coding and a length at once. */
const both = (
  name: string,
  outcome: RawOutcome,
  codings: ReadonlyArray<string>,
  reference = "RFC 9112 6.3, CWE-444"
): RawRequest => ({
  name,
  reference,
  outcome,
  bytes: (place) => {
    const body = chunksThenRequest(place)
    return post(place, [`Content-Length: ${body.length}`, ...codings], body)
  }
})

const codings: ReadonlyArray<RawRequest> = [
  both("cl-te", "once", ["Transfer-Encoding: chunked"], "RFC 9112 6.1, CWE-444"),
  {
    name: "te-cl",
    reference: "RFC 9112 6.1, CWE-444",
    outcome: "once",
    bytes: (place) =>
      post(place, ["Transfer-Encoding: chunked", "Content-Length: 4"], chunkOf(smuggledIn(place)))
  },
  both("te-case", "once", ["Transfer-Encoding: ChUnKeD"]),
  both("te-tab-before-value", "once", ["Transfer-Encoding:\tchunked"]),
  both("te-folded", "once", ["Transfer-Encoding:\r\n chunked"], "RFC 9112 5.2, CWE-444"),
  both("te-unknown-coding", "refuse", ["Transfer-Encoding: xchunked"], "RFC 9112 6.1, CWE-444"),
  both("te-space-before-colon", "refuse", ["Transfer-Encoding : chunked"], "RFC 9112 5.1, CWE-444"),
  both("te-twice", "refuse", ["Transfer-Encoding: chunked", "Transfer-Encoding: x"]),
  both(
    "te-twice-chunked",
    "refuse",
    ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    "RFC 9112 6.1, CWE-444"
  ),
  both("te-chunked-not-last", "refuse", ["Transfer-Encoding: chunked, identity"]),
  both("te-chunked-chunked", "refuse", ["Transfer-Encoding: chunked, chunked"], "RFC 9112 6.1, CWE-444"),
  both("te-vertical-tab", "refuse", ["Transfer-Encoding: \u000bchunked"]),
  both("te-quoted", "refuse", ['Transfer-Encoding: "chunked"']),
  both("te-parameter", "refuse", ["Transfer-Encoding: chunked;q=1"]),
  both("te-trailing-nul", "refuse", ["Transfer-Encoding: chunked\u0000"], "RFC 9110 5.5, CWE-444"),
  both("te-empty", "refuse", ["Transfer-Encoding:"]),
  both("te-non-breaking-space", "refuse", ["Transfer-Encoding: \u00a0chunked"]),
  both("te-in-name-nul", "refuse", ["Transfer-Encoding\u0000: chunked"], "RFC 9112 5.1, CWE-444"),
  both("te-behind-bare-lf", "once", ["X-Probe: x\nTransfer-Encoding: chunked"], "RFC 9112 2.2, CWE-444"),
  both("te-behind-bare-cr", "separate", ["X-Probe: x\rTransfer-Encoding: chunked"], "RFC 9112 2.2, CWE-444"),
  both("te-underscore", "separate", ["Transfer_Encoding: chunked"], "RFC 9110 5.1, CWE-444"),
  both(
    "te-as-connection-option",
    "once",
    ["Connection: Transfer-Encoding", "Transfer-Encoding: chunked"],
    "RFC 9110 7.6.1, CWE-444"
  ),
  {
    name: "te-identity-alone",
    reference: "RFC 9112 6.3, CWE-444",
    outcome: "refuse",
    bytes: (place) => post(place, ["Transfer-Encoding: identity"], smuggledIn(place))
  },
  {
    name: "te-gzip-alone",
    reference: "RFC 9112 6.3, CWE-444",
    outcome: "refuse",
    bytes: (place) => post(place, ["Transfer-Encoding: gzip"], smuggledIn(place))
  },
  {
    name: "te-in-http-1-0",
    reference: "RFC 9112 6.1, CWE-444",
    outcome: "once",
    bytes: (place) =>
      post(place, ["Connection: keep-alive", "Transfer-Encoding: chunked"], chunkOf("{}")).replace(
        "HTTP/1.1",
        "HTTP/1.0"
      )
  },
  {
    name: "te-cl-in-http-1-0",
    reference: "RFC 9112 6.1, CWE-444",
    outcome: "once",
    bytes: (place) => {
      const body = chunksThenRequest(place)
      return post(
        place,
        ["Connection: keep-alive", `Content-Length: ${body.length}`, "Transfer-Encoding: chunked"],
        body
      ).replace("HTTP/1.1", "HTTP/1.0")
    }
  }
]

/** A body of a whole request, under these lengths. `$` is its true length. */
const lengths = (
  name: string,
  outcome: RawOutcome,
  lines: ReadonlyArray<string>,
  reference = "RFC 9112 6.3, CWE-444"
): RawRequest => ({
  name,
  reference,
  outcome,
  bytes: (place) => {
    const body = smuggledIn(place)
    return post(
      place,
      lines.map((line) => line.replaceAll("$", String(body.length))),
      body
    )
  }
})

const contentLengths: ReadonlyArray<RawRequest> = [
  lengths("cl-two-different", "refuse", ["Content-Length: 0", "Content-Length: $"]),
  lengths("cl-list-different", "refuse", ["Content-Length: 0, $"]),
  lengths("cl-two-equal", "separate", ["Content-Length: $", "Content-Length: $"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-list-equal", "separate", ["Content-Length: $, $"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-plus", "refuse", ["Content-Length: +$"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-minus", "refuse", ["Content-Length: -$"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-minus-zero", "refuse", ["Content-Length: -0"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-hexadecimal", "refuse", ["Content-Length: 0x10"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-decimal-point", "refuse", ["Content-Length: $.0"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-exponent", "refuse", ["Content-Length: 1e1"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-underscore-digits", "refuse", ["Content-Length: 1_0"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-two-numbers", "refuse", ["Content-Length: 0 $"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-empty", "refuse", ["Content-Length:"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-vertical-tab", "refuse", ["Content-Length: \u000b$"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-other-digits", "refuse", ["Content-Length: \u00b2"], "RFC 9110 8.6, CWE-444"),
  lengths("cl-above-64-bits", "refuse", ["Content-Length: 18446744073709551616"], "RFC 9110 8.6, CWE-190"),
  lengths("cl-beyond-64-bits", "refuse", [`Content-Length: ${"9".repeat(40)}`], "RFC 9110 8.6, CWE-190"),
  lengths("cl-space-before-colon", "refuse", ["Content-Length : $"], "RFC 9112 5.1, CWE-444"),
  lengths("cl-leading-zeros", "separate", ["Content-Length: 000$"], "RFC 9110 8.6, CWE-444"),
  lengths(
    "cl-as-connection-option",
    "separate",
    ["Connection: Content-Length", "Content-Length: $"],
    "RFC 9110 7.6.1, CWE-444"
  ),
  lengths("cl-folded", "separate", ["Content-Length:\r\n $"], "RFC 9112 5.2, CWE-444"),
  lengths("cl-read-on-post", "separate", ["Content-Length: $"], "RFC 9112 6.3, CWE-444")
]

/** Methods that seldom have a body: what stands there is no request. */
const bodies: ReadonlyArray<RawRequest> = ["GET", "HEAD", "OPTIONS", "TRACE"].map((method) => ({
  name: `cl-read-on-${method.toLowerCase()}`,
  reference: "RFC 9112 6.3, CWE-444",
  outcome: "separate",
  bytes: (place) => {
    const body = smuggledIn(place)
    return post(place, [`Content-Length: ${body.length}`], body).replace("POST", method)
  }
}))

export const smuggling: ReadonlyArray<RawRequest> = [...codings, ...contentLengths, ...bodies]
