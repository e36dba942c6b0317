// Uploaded logos: decoded to their pixels and encoded again.
import { describe, expect, test } from "bun:test"
import { crc32, deflateSync } from "node:zlib"
import { cleanPng } from "../../../src/merchants/Branding/cleanPng.ts"

const chunk = (type: string, data: Uint8Array) => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
const header = (width: number, height: number, colour = 6, depth = 8, interlace = 0) => {
  const data = Buffer.alloc(13)
  data.writeUInt32BE(width, 0)
  data.writeUInt32BE(height, 4)
  data.set([depth, colour, 0, 0, interlace], 8)
  return chunk("IHDR", data)
}
const png = (...chunks: ReadonlyArray<Uint8Array>) =>
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ...chunks,
    chunk("IEND", Buffer.alloc(0))
  ])
const pixels = (width: number, height: number, perPixel = 4) =>
  chunk("IDAT", deflateSync(Buffer.alloc(height * (1 + width * perPixel))))

describe("cleanPng", () => {
  test("keeps the pixels and drops everything else in the file", () => {
    const script = Buffer.from("Comment\0<script>alert(1)</script>")
    const given = Buffer.concat([png(header(2, 2), chunk("tEXt", script), pixels(2, 2)), script])
    const clean = cleanPng(given)
    expect(clean).toBeDefined()
    expect(Buffer.from(clean ?? []).includes("script")).toBe(false)
    expect(cleanPng(clean ?? Buffer.alloc(0))).toEqual(clean)
  })

  test("RGB of 256 by 256 pixels is accepted", () => {
    expect(cleanPng(png(header(256, 256, 2), pixels(256, 256, 3)))).toBeDefined()
  })

  const refused: ReadonlyArray<readonly [string, Uint8Array]> = [
    ["nothing", Buffer.alloc(0)],
    ["another format", Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>")],
    ["a side of 257", png(header(257, 1), pixels(257, 1))],
    ["no pixels", png(header(2, 2))],
    ["too few pixels", png(header(2, 2), pixels(2, 1))],
    ["more pixels than it says", png(header(2, 2), pixels(256, 256))],
    ["a bomb", png(header(2, 2), chunk("IDAT", deflateSync(Buffer.alloc(50_000_000))))],
    ["a palette", png(header(2, 2, 3), pixels(2, 2, 1))],
    ["16 bits", png(header(2, 2, 6, 16), pixels(2, 2, 8))],
    ["interlaced", png(header(2, 2, 6, 8, 1), pixels(2, 2))],
    [
      "a filter that does not exist",
      png(header(1, 1), chunk("IDAT", deflateSync(Buffer.from([9, 0, 0, 0, 0]))))
    ],
    [
      "a length beyond the end",
      Buffer.concat([png(header(2, 2)).subarray(0, 40), Buffer.from([0xff, 0xff])])
    ],
    ["broken compression", png(header(2, 2), chunk("IDAT", Buffer.from("nothing like zlib")))]
  ]
  for (const [name, bytes] of refused)
    test(`${name} is refused`, () => expect(cleanPng(bytes)).toBeUndefined())
})
