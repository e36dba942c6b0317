// Browser code that the service serves: an entry point (TS, TSX, CSS as text) is
// bundled and minified on its first request, then kept in memory with its gzip
// and its SRI hash. Nothing of it happens while the service starts.
import { basename, join } from "node:path"
import { Data, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { crossOriginHeaders } from "../http/Answers.ts"

export interface BrowserBundle {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
  /** For the `integrity` attribute: `sha384-` and base64. */
  readonly integrity: string
}

/** The entry point does not build: a bug in its source, named in `message`. */
export class BundleFailed extends Data.TaggedError("BundleFailed")<{ readonly message: string }> {}

/** A source by its path under `src`, seen from the sources and from the built service in `dist` alike. */
export const sourceFile = (path: string): string =>
  join(import.meta.dir, basename(import.meta.dir) === "pages" ? ".." : "../src", path)

/** Constants that the bundler writes into the code, by name. */
export type Constants = Readonly<Record<string, string | boolean>>

const build = async (entry: string, constants: Constants): Promise<BrowserBundle> => {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    // One file without imports or exports: a classic script and a module alike.
    format: "iife",
    minify: true,
    define: {
      "process.env.NODE_ENV": '"production"',
      ...Object.fromEntries(Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]))
    }
  })
  const script = outputs.find(({ kind }) => kind === "entry-point")
  if (script === undefined) throw new Error("no output")
  const bytes = new Uint8Array(await script.arrayBuffer())
  return {
    bytes,
    gzip: Bun.gzipSync(bytes, { level: 9 }),
    integrity: `sha384-${new Bun.CryptoHasher("sha384").update(bytes).digest("base64")}`
  }
}

const reasons = (error: unknown): string =>
  error instanceof AggregateError ? error.errors.map(String).join("; ") : String(error)

/**
 * The bundle of `entry`, an absolute path. Made by the first caller, shared by the
 * others; a failed build is tried again by the next caller.
 *
 * @example
 * const checkout = browserBundle(sourceFile("checkout/component/main.ts"))
 */
export const browserBundle = (
  entry: string,
  constants: Constants = {}
): Effect.Effect<BrowserBundle, BundleFailed> => {
  let made: Promise<BrowserBundle> | undefined
  return Effect.tryPromise({
    try: () => {
      made ??= build(entry, constants).catch((error: unknown) => {
        made = undefined
        throw error
      })
      return made
    },
    catch: (error) => new BundleFailed({ message: `${entry} does not build: ${reasons(error)}` })
  })
}

/** True where `accept-encoding` takes gzip. */
export const acceptsGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((part) => {
    const [name = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/)
    return (name === "gzip" || name === "*") && !parameters.some((one) => /^q=0(\.0*)?$/.test(one))
  })

/**
 * Answers with the bundle as JavaScript, gzipped where the client takes it. A build
 * failure is a defect: the caller sees INTERNAL_ERROR, the log says what is wrong.
 */
export const bundleAnswer = (
  bundle: Effect.Effect<BrowserBundle, BundleFailed>,
  options: { readonly crossOrigin: boolean }
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const { bytes, gzip } = yield* Effect.orDie(bundle)
    const zipped = acceptsGzip(headers["accept-encoding"])
    return HttpServerResponse.uint8Array(zipped ? gzip : bytes, {
      contentType: "text/javascript; charset=utf-8",
      headers: {
        "x-content-type-options": "nosniff",
        vary: "accept-encoding",
        ...(zipped ? { "content-encoding": "gzip" } : {}),
        ...(options.crossOrigin
          ? { ...crossOriginHeaders, "cross-origin-resource-policy": "cross-origin" }
          : {})
      }
    })
  })
