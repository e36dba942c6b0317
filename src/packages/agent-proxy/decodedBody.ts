// Decompresses response bodies within a limit, so that a small body cannot fill the memory.
import zlib from "node:zlib"
import { Option } from "effect"

/** A body without its content coding; none if the coding is unknown or broken, or the result exceeds the limit. */
export const decodedBody = (
  bytes: Uint8Array,
  contentEncoding: string | null,
  limit: number
): Option.Option<Uint8Array> => {
  const options = { maxOutputLength: limit }
  return Option.liftThrowable((): Uint8Array => {
    switch ((contentEncoding ?? "identity").trim().toLowerCase()) {
      case "identity":
        return bytes
      case "gzip":
      case "x-gzip":
        return zlib.gunzipSync(bytes, options)
      case "deflate":
        // Some servers send it without its zlib header.
        return ((bytes[0] ?? 0) & 0x0f) === 8
          ? zlib.inflateSync(bytes, options)
          : zlib.inflateRawSync(bytes, options)
      case "br":
        return zlib.brotliDecompressSync(bytes, options)
      case "zstd":
        // Node before 22.15 lacks it, and throws.
        return zlib.zstdDecompressSync(bytes, options)
      default:
        throw new Error("unknown content coding")
    }
  })()
}
