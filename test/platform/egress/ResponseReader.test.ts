// The response parser: framings, budgets, and that no way of splitting the bytes changes the outcome.
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ResponseReader } from "../../../src/platform/egress/ResponseReader.ts"

const budgets = { headBytes: 1_024, bodyBytes: 512, shownBytes: 16 }

interface Read {
  readonly state: string
  readonly status: number
  readonly body: string
  readonly reusable: boolean
}

/** Feeds the pieces, then closes. */
const read = (pieces: ReadonlyArray<string | Buffer>, closes = true): Read => {
  const reader = new ResponseReader(budgets)
  let state = "reading"
  for (const piece of pieces) {
    if (state === "reading") state = reader.push(Buffer.from(piece))
  }
  if (state === "reading" && closes) state = reader.end()
  return {
    state,
    status: reader.status,
    body: Buffer.from(reader.body).toString("latin1"),
    reusable: reader.reusable
  }
}

const head = (lines: string): string => `HTTP/1.1 200 OK\r\n${lines}\r\n`
const done = (body: string, reusable: boolean, status = 200): Read => ({
  state: "done",
  status,
  body,
  reusable
})

const complete: ReadonlyArray<readonly [name: string, response: string, expected: Read]> = [
  ["length", `${head("Content-Length: 2\r\n")}ok`, done("ok", true)],
  ["length zero", head("content-length: 0\r\n"), done("", true)],
  ["the same length twice", `${head("content-length: 2\r\ncontent-length: 2\r\n")}ok`, done("ok", true)],
  [
    "chunked",
    `${head("Transfer-Encoding: chunked\r\n")}2\r\nok\r\n1;x=y\r\n!\r\n0\r\n\r\n`,
    done("ok!", true)
  ],
  [
    "chunked with trailers",
    `${head("transfer-encoding: chunked\r\n")}1\r\na\r\n0\r\nx: y\r\n\r\n`,
    done("a", true)
  ],
  [
    "chunked and a length",
    `${head("transfer-encoding: chunked\r\ncontent-length: 9\r\n")}0\r\n\r\n`,
    done("", false)
  ],
  ["until close", `${head("")}hello`, done("hello", false)],
  ["other transfer coding", `${head("transfer-encoding: gzip\r\n")}xyz`, done("xyz", false)],
  ["204 without framing", "HTTP/1.1 204 No Content\r\n\r\n", done("", true, 204)],
  ["304 with a length", "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", done("", true, 304)],
  [
    "interim answers first",
    `HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${head("content-length: 1\r\n")}x`,
    done("x", true)
  ],
  [
    "101 is an answer and the end",
    "HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n\u0001\u0002",
    done("", false, 101)
  ],
  ["connection: close", `${head("connection: close\r\ncontent-length: 1\r\n")}x`, done("x", false)],
  ["a peer about to close", `${head("keep-alive: timeout=1\r\ncontent-length: 1\r\n")}x`, done("x", false)],
  ["a patient peer", `${head("keep-alive: timeout=15, max=100\r\ncontent-length: 1\r\n")}x`, done("x", true)],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", done("x", false)],
  ["bare line feeds", "HTTP/1.1 200 OK\ncontent-length: 1\n\nx", done("x", true)],
  ["no reason phrase", "HTTP/1.1 500\r\ncontent-length: 0\r\n\r\n", done("", true, 500)],
  ["a status beyond the classes", "HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n", done("", true, 999)],
  [
    "kept part of a longer body",
    `${head("content-length: 20\r\n")}0123456789abcdefghij`,
    done("0123456789abcdef", true)
  ]
]

const malformed: ReadonlyArray<readonly [name: string, response: string]> = [
  ["nothing", ""],
  ["not HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
  ["HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n"],
  ["HTTP/0.9", "<html>"],
  ["two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["status zero", "HTTP/1.1 000 OK\r\n\r\n"],
  ["four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["header without a colon", head("nonsense\r\n")],
  ["header without a name", head(": x\r\n")],
  ["two lengths", `${head("content-length: 1\r\ncontent-length: 2\r\n")}xx`],
  ["negative length", head("content-length: -1\r\n")],
  ["length in hexadecimal", head("content-length: 0x10\r\n")],
  ["list of lengths", `${head("content-length: 2, 2\r\n")}ok`],
  ["length cut short", `${head("content-length: 5\r\n")}abc`],
  ["chunk cut short", `${head("transfer-encoding: chunked\r\n")}5\r\nabc`],
  ["chunked without an end", `${head("transfer-encoding: chunked\r\n")}1\r\na\r\n`],
  ["chunk size that is no number", `${head("transfer-encoding: chunked\r\n")}zz\r\n`],
  ["negative chunk size", `${head("transfer-encoding: chunked\r\n")}-1\r\n`],
  ["chunk longer than it says", `${head("transfer-encoding: chunked\r\n")}1\r\nab\r\n`],
  ["head without an end", "HTTP/1.1 200 OK\r\nx: y\r\n"],
  ["header bomb", head(`x: ${"y".repeat(2_000)}\r\n`)],
  ["many headers", head("x: y\r\n".repeat(400))],
  ["interim answers without end", "HTTP/1.1 100 Continue\r\n\r\n".repeat(60)]
]

describe("ResponseReader", () => {
  for (const [name, response, expected] of complete) {
    test(name, () => {
      expect(read([response])).toEqual(expected)
      expect(read([...Buffer.from(response, "latin1")].map((byte) => Buffer.of(byte)))).toEqual(expected)
    })
  }

  for (const [name, response] of malformed) {
    test(`refuses: ${name}`, () => {
      expect(read([response]).state).toBe("malformed")
      expect(read([...Buffer.from(response)].map((byte) => Buffer.of(byte))).state).toBe("malformed")
    })
  }

  test("bytes after the answer make the connection unusable for another", () => {
    expect(read([`${head("content-length: 1\r\n")}xHTTP/1.1 200 OK\r\n`])).toEqual(done("x", false))
  })

  test("a body beyond the budget is cut off, whatever its framing", () => {
    const long = "y".repeat(600)
    const kept = "y".repeat(16)
    expect(read([head("content-length: 999999999\r\n"), long], false)).toEqual(done(kept, false))
    expect(read([head(""), long], false)).toEqual(done(kept, false))
    expect(read([head("transfer-encoding: chunked\r\n"), `ffffff\r\n${long}`], false)).toEqual(
      done(kept, false)
    )
    expect(read([head("transfer-encoding: chunked\r\n"), `1;${long}`], false)).toEqual(done("", false))
    expect(read([head("transfer-encoding: chunked\r\n"), "1\r\ny\r\n".repeat(200)], false)).toEqual(
      done(kept, false)
    )
    expect(read([head("transfer-encoding: chunked\r\n"), "0\r\n", "x: y\r\n".repeat(200)], false)).toEqual(
      done("", false)
    )
  })

  test("random bytes neither throw nor hang", () => {
    const { FAST_CHECK_SEED } = process.env
    const seed = Number(FAST_CHECK_SEED ?? Date.now() % 2 ** 31)
    console.log(`response property: FAST_CHECK_SEED=${seed}`)
    const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
    const start = fc.constantFrom(
      "",
      head(""),
      head("transfer-encoding: chunked\r\n"),
      head("content-length: 9\r\n")
    )
    fc.assert(
      fc.property(start, fc.array(noise, { maxLength: 8 }), (opening, pieces) => {
        expect(["done", "malformed"]).toContain(read([opening, ...pieces]).state)
      }),
      { numRuns: 3_000, seed }
    )
  })
})
