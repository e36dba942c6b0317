// Messages whose end, grammar or host two readers may interpret differently. A plain request follows each on the same
// connection: no request hidden in a body is ever answered.

import { expect, test } from "bun:test"
import { connect } from "node:net"
import { Effect } from "effect"
import { serviceForFile } from "../../support/forFile.ts"

const service = await serviceForFile()
const merchant = await Effect.runPromise(service.newMerchant)
const key = merchant.keys.test.publishable
const port = Number(new URL(service.baseUrl).port)

const hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
const plain = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
const head = (lines: ReadonlyArray<string>, start = "GET /healthz HTTP/1.1") =>
  [start, ...lines, "", ""].join("\r\n")
const post = (lines: ReadonlyArray<string>, body: string) =>
  head(
    ["Host: localhost", "Authorization: Bearer $key", "Content-Type: application/json", ...lines],
    "POST /api/v1/payments HTTP/1.1"
  ) + body

/** The server's answers to the bytes and to the plain request after them, until it closes or is quiet. */
const converse = (bytes: string) =>
  new Promise<{ readonly statuses: ReadonlyArray<number>; readonly closed: boolean }>((resolve) => {
    let answer = ""
    const statuses = () => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes.replace("$key", key), "latin1"))
    const finish = (closed: boolean) => {
      clearTimeout(silence)
      socket.destroy()
      resolve({ statuses: statuses(), closed })
    }
    let silence = setTimeout(() => finish(false), 5_000)
    let isFollowed = false
    const follow = () => {
      if (!isFollowed && !socket.destroyed) socket.write(plain)
      isFollowed = true
    }
    setTimeout(follow, 700)
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1")
      setTimeout(follow, 100)
      clearTimeout(silence)
      silence = setTimeout(() => finish(false), 1_000)
    })
    socket.on("error", () => {})
    socket.on("close", () => finish(true))
  })

/** A length and a coding at once: by the coding the hidden request comes after the end, by the length before it. */
const both = (...codings: ReadonlyArray<string>) => {
  const body = `0\r\n\r\n${hidden}`
  return post([`Content-Length: ${body.length}`, ...codings], body)
}
const lengths = (...lines: ReadonlyArray<string>) =>
  post(
    lines.map((line) => line.replaceAll("$", String(hidden.length))),
    hidden
  )
const chunked = (body: string) => post(["Transfer-Encoding: chunked"], body)
const sized = (size: string) => chunked(`${size}\r\nhello\r\n0\r\n\r\n`)

/** Refused and closed, with at most one answer, because the message's end cannot be known. */
const refused: Readonly<Record<string, string>> = {
  "a length and chunks": both("Transfer-Encoding: chunked"),
  "chunks and a length": post(
    ["Transfer-Encoding: chunked", "Content-Length: 4"],
    `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
  ),
  ...Object.fromEntries(
    [
      ["Transfer-Encoding: ChUnKeD"],
      ["Transfer-Encoding:\tchunked"],
      ["Transfer-Encoding:\r\n chunked"],
      ["Transfer-Encoding: xchunked"],
      ["Transfer-Encoding : chunked"],
      ["Transfer-Encoding: chunked", "Transfer-Encoding: x"],
      ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: chunked, identity"],
      ["Transfer-Encoding: chunked, chunked"],
      ["Transfer-Encoding: \u000bchunked"],
      ['Transfer-Encoding: "chunked"'],
      ["Transfer-Encoding: chunked;q=1"],
      ["Transfer-Encoding: chunked\u0000"],
      ["Transfer-Encoding:"],
      ["Transfer-Encoding: \u00a0chunked"],
      ["Transfer-Encoding\u0000: chunked"],
      ["X-Other: x\nTransfer-Encoding: chunked"],
      ["Connection: Transfer-Encoding", "Transfer-Encoding: chunked"]
    ].map((codings) => [`a length and ${JSON.stringify(codings)}`, both(...codings)])
  ),
  ...Object.fromEntries(
    ["identity", "gzip"].map((coding) => [`only ${coding}`, lengths(`Transfer-Encoding: ${coding}`)])
  ),
  ...Object.fromEntries(
    [
      ["Content-Length: 0", "Content-Length: $"],
      ["Content-Length: 0, $"],
      ["Content-Length: +$"],
      ["Content-Length: -$"],
      ["Content-Length: -0"],
      ["Content-Length: 0x10"],
      ["Content-Length: $.0"],
      ["Content-Length: 1e1"],
      ["Content-Length: 1_0"],
      ["Content-Length: 0 $"],
      ["Content-Length:"],
      ["Content-Length: \u000b$"],
      ["Content-Length: \u00b2"],
      ["Content-Length: 18446744073709551616"],
      [`Content-Length: ${"9".repeat(40)}`],
      ["Content-Length : $"]
    ].map((lines) => [JSON.stringify(lines), lengths(...lines)])
  ),
  ...Object.fromEntries(
    ["+5", "-5", "0x5", "5_", "zz", "", '"5"', "5.0", " 5", "\t5", "5\u0000", "0 5", "8000000000000000"].map(
      (size) => [`a chunk of size ${JSON.stringify(size)}`, sized(size)]
    )
  ),
  "a chunk beyond 64 bits": sized("10000000000000005"),
  "a chunk of 64 ones": sized("ffffffffffffffff"),
  "a bare LF in an extension": chunked("5;a\nhello\r\n0\r\n\r\n"),
  "a bare CR in an extension": chunked("5;a\rb\r\nhello\r\n0\r\n\r\n"),
  "a bare LF behind a size": chunked("5\nhello\r\n0\r\n\r\n"),
  "a bare CR behind a size": chunked("5\rhello\r\n0\r\n\r\n"),
  "a chunk without its end": chunked("5\r\nhello0\r\n\r\n"),
  "a chunk ended by a bare LF": chunked("5\r\nhello\n0\r\n\r\n"),
  "a chunk longer than its size": chunked("3\r\nhello\r\n0\r\n\r\n"),
  "a last chunk without its end": chunked("0\r\n"),
  "a trailer without a colon": chunked("0\r\nnonsense\r\n\r\n"),
  "10,000 trailers": chunked(`0\r\n${"x-a: y\r\n".repeat(10_000)}\r\n`),
  ...Object.fromEntries(
    [
      "GET /healthz http/1.1",
      "GET /healthz HTTP/1.10",
      "GET /healthz /other HTTP/1.1",
      "GET /healthz\u0000 HTTP/1.1",
      "GE\u0000T /healthz HTTP/1.1",
      "GET\r/healthz HTTP/1.1",
      "G(E)T /healthz HTTP/1.1",
      `${"G".repeat(20_000)} /healthz HTTP/1.1`
    ].map((start) => [JSON.stringify(start.slice(0, 40)), head(["Host: localhost"], start)])
  ),
  ...Object.fromEntries(
    ["X-\u0000A: a", "X A: a", "X-A : a", ": a", "X-\u00f6: a"].map((line) => [
      JSON.stringify(line),
      head(["Host: localhost", line])
    ])
  )
}

/** Refused, or read as one request, and the plain one as the next. */
const separate: Readonly<Record<string, string>> = {
  "a coding with an underscore": both("Transfer_Encoding: chunked"),
  "a coding behind a bare CR": both("X-Other: x\rTransfer-Encoding: chunked"),
  "a chunk that wraps 32 bits": sized("100000005"),
  "a length in a trailer": chunked("0\r\nContent-Length: 40\r\n\r\n"),
  "a coding in a trailer": chunked("0\r\nTransfer-Encoding: chunked\r\n\r\n"),
  "a host in a trailer": chunked("0\r\nHost: other.example\r\n\r\n"),
  "a size of many zeros": sized(`${"0".repeat(20)}5`),
  "an extension of 100 kB": sized(`5;${"x".repeat(100_000)}`),
  "two equal lengths": lengths("Content-Length: $", "Content-Length: $"),
  "a list of equal lengths": lengths("Content-Length: $, $"),
  "a length that Connection names": lengths("Connection: Content-Length", "Content-Length: $"),
  "a folded length": lengths("Content-Length:\r\n $"),
  "a body of GET": lengths("Content-Length: $").replace("POST", "GET"),
  "a body of HEAD": lengths("Content-Length: $").replace("POST", "HEAD"),
  "another host in the target": head(["Host: localhost"], "GET http://other.example/ HTTP/1.1"),
  "a bare LF as line end": "GET /healthz HTTP/1.1\nHost: localhost\n\n",
  "a folded header": head(["Host: localhost", "X-A: a", " b"]),
  "an upgrade to h2c": head(["Host: localhost", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c"]),
  "an upgrade to WebSocket": head([
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 777",
    "Sec-WebSocket-Key: x"
  ])
}

for (const [name, bytes] of Object.entries(refused))
  test.concurrent(`${name}: refused and closed`, async () => {
    const { statuses, closed } = await converse(bytes)
    // A final 400 is the parser's answer to bytes that it could not read, not another answer.
    const answers = statuses.length > 1 && statuses.at(-1) === 400 ? statuses.slice(0, -1) : statuses
    expect({ answers, closed }).toEqual({ answers: statuses.slice(0, 1), closed: true })
    for (const status of statuses) expect([400, 413, 431, 501, 505]).toContain(status)
  })

for (const [name, bytes] of Object.entries(separate))
  test.concurrent(`${name}: never read as two requests`, async () => {
    const { statuses, closed } = await converse(bytes)
    expect(statuses.length).toBeLessThanOrEqual(2)
    expect(statuses).not.toContain(101)
    expect(statuses.filter((status) => status >= 500 && status !== 501 && status !== 505)).toEqual([])
    expect(closed || statuses.length === 2 || statuses.length === 0).toBe(true)
  })
