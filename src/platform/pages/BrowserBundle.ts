// Browser code that the service serves, cached in memory from its first request with its gzip and SRI hash. The built
// service reads the build's output; a service that runs from source bundles it at that request.
import { Data, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { crossOriginHeaders } from "../http/ResponseEnvelope.ts"
import { builtFile, compile, placeholder } from "./compile.ts"

export interface BrowserBundle {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
  /** For the `integrity` attribute: `sha384-` and base64. */
  readonly integrity: string
}

/** The entry point does not build: a bug in its source, described in `message`. */
export class BundleFailed extends Data.TaggedError("BundleFailed")<{ readonly message: string }> {}

/** Texts that replace these names in the code. */
export type Constants = Readonly<Record<string, string>>

/** An entry point of a bundle: a path under `src`. */
export interface Part {
  readonly entry: string
  readonly constants: Constants
}

/** The entry point's code as `bun run build` built it, or a fresh bundle. */
const codeOf = async (entry: string, constants: Constants): Promise<Uint8Array<ArrayBuffer>> => {
  const prebuilt = Bun.file(builtFile(entry))
  if (!(await prebuilt.exists())) return compile(entry, constants)
  let code = await prebuilt.text()
  for (const [name, value] of Object.entries(constants)) code = code.replaceAll(placeholder(name), value)
  return new TextEncoder().encode(code)
}

const build = async (parts: ReadonlyArray<Part>): Promise<BrowserBundle> => {
  const codes = await Promise.all(parts.map(({ constants, entry }) => codeOf(entry, constants)))
  const bytes = new Uint8Array(
    await new Blob(codes.flatMap((code) => [code, ";"]).slice(0, -1)).arrayBuffer()
  )
  return {
    bytes,
    gzip: Bun.gzipSync(bytes, { level: 9 }),
    integrity: `sha384-${new Bun.CryptoHasher("sha384").update(bytes).digest("base64")}`
  }
}

const reasons = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(String).join("; ") : String(error)

/**
 * The bundle of `entry`, a path under `src`, and of the parts that follow it in the same script. Created by the first caller and shared by the others; after a failed
 * build, the next caller tries again.
 * @example
 * const checkout = browserBundle("checkout/component/main.ts")
 */
export const browserBundle = (
  entry: string,
  constants: Constants = {},
  ...more: ReadonlyArray<Part>
): Effect.Effect<BrowserBundle, BundleFailed> => {
  let bundle: Promise<BrowserBundle> | undefined
  return Effect.tryPromise({
    try: () => {
      bundle ??= build([{ entry, constants }, ...more]).catch((error: unknown) => {
        bundle = undefined
        throw error
      })
      return bundle
    },
    catch: (error) => new BundleFailed({ message: `${entry} does not build: ${reasons(error)}` })
  })
}

/** True if `accept-encoding` includes gzip. */
export const acceptsGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((part) => {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/)
    return (
      (name === "gzip" || name === "*") && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    )
  })

/** True if the client has the content, by its tag (RFC 9110, 13.1.2). */
export const matchesIfNoneMatch = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? "").split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)

/**
 * Responds with the bundle, JavaScript by default, gzipped if the client accepts it. A build failure is a defect: the
 * caller gets INTERNAL_ERROR, and the log has the reason.
 */
export const bundleResponse = (
  bundle: Effect.Effect<BrowserBundle, BundleFailed>,
  options: { readonly crossOrigin: boolean; readonly contentType?: "text/javascript" | "text/css" }
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const { bytes, gzip, integrity } = yield* Effect.orDie(bundle)
    const zipped = acceptsGzip(headers["accept-encoding"])
    const etag = `"${integrity}${zipped ? "-gzip" : ""}"`
    const shared = {
      "x-content-type-options": "nosniff",
      vary: "accept-encoding",
      // Shops' pages load it for each order: a browser with the current content gets 304.
      ...(options.crossOrigin
        ? {
            ...crossOriginHeaders,
            "cross-origin-resource-policy": "cross-origin",
            "cache-control": "no-cache",
            etag
          }
        : {})
    }
    if (options.crossOrigin && matchesIfNoneMatch(headers["if-none-match"], etag))
      return HttpServerResponse.empty({ status: 304, headers: shared })
    return HttpServerResponse.uint8Array(zipped ? gzip : bytes, {
      contentType: `${options.contentType ?? "text/javascript"}; charset=utf-8`,
      headers: { ...shared, ...(zipped ? { "content-encoding": "gzip" } : {}) }
    })
  })
