// Uploaded logos: a PNG is decoded to pixels and re-encoded, so that none of its other content is served.
import { crc32, deflateSync, inflateSync } from "node:zlib"

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** The largest width and height. */
const largestSide = 256
/** Bytes of a pixel by colour type: RGB and RGBA of 8 bits. */
const pixelBytes: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/** The re-encoded image; undefined unless it is a PNG of 8-bit RGB or RGBA with at most 256 pixels a side. */
export const cleanPng = (upload: Uint8Array): Uint8Array<ArrayBuffer> | undefined => {
  const bytes = Buffer.from(upload)
  if (!bytes.subarray(0, 8).equals(signature)) return undefined
  let header: Buffer | undefined
  const packed: Array<Buffer> = []
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    if (at + 12 + length > bytes.length) return undefined
    const type = bytes.toString("latin1", at + 4, at + 8)
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (type === "IHDR") header = data
    if (type === "IDAT") packed.push(data)
    if (type === "IEND") break
    at += 12 + length
  }
  if (header?.length !== 13) return undefined
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, colour, compression, filter, interlace] = [...header.subarray(8)]
  const perPixel = pixelBytes[colour ?? -1]
  const isPlain = depth === 8 && compression === 0 && filter === 0 && interlace === 0
  if (perPixel === undefined || !isPlain) return undefined
  if (width < 1 || height < 1 || width > largestSide || height > largestSide) return undefined
  const size = height * (1 + width * perPixel)
  try {
    const pixels = inflateSync(Buffer.concat(packed), { maxOutputLength: size })
    // The first byte of each row is its filter type.
    const rows = Array.from({ length: height }, (_, row) => pixels[row * (1 + width * perPixel)] ?? 255)
    if (pixels.length !== size || rows.some((filter) => filter > 4)) return undefined
    return Uint8Array.from(
      Buffer.concat([
        signature,
        chunk("IHDR", header),
        chunk("IDAT", deflateSync(pixels, { level: 9 })),
        chunk("IEND", Buffer.alloc(0))
      ])
    )
  } catch {
    return undefined
  }
}
