// Bundling browser code: what is served, when it is built, and how a broken source fails.
import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import {
  acceptsGzip,
  type BrowserBundle,
  type BundleFailed,
  browserBundle,
  bundleResponse
} from "../../../src/platform/pages/BrowserBundle.ts"

const within = async (
  files: Readonly<Record<string, string>>,
  use: (directory: string) => Promise<void>
): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-bundle-"))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  await use(directory).finally(() => rmSync(directory, { recursive: true, force: true }))
}

const answered = (
  bundle: Effect.Effect<BrowserBundle, BundleFailed>,
  headers: Readonly<Record<string, string>>,
  crossOrigin = true
) => {
  const routes = HttpRouter.add("GET", "/a.js", bundleResponse(bundle, { crossOrigin }))
  const { handler, dispose } = HttpRouter.toWebHandler(
    routes.pipe(Layer.provideMerge(HttpServer.layerServices)),
    { disableLogger: true }
  )
  return handler(new Request("http://localhost/a.js", { headers })).finally(dispose)
}

const source = {
  "main.ts": `import { word } from "./word.ts"
import css from "./style.css" with { type: "text" }
const greeting: string = word
document.title = greeting + css`,
  "word.ts": `export const word = "hello"`,
  "style.css": "p { color: red }"
}

describe("Browser bundles", () => {
  test("TypeScript, imports and CSS as text become one script that works both as classic script and as module", () =>
    within(source, async (directory) => {
      const answer = await answered(browserBundle(join(directory, "main.ts")), {})
      const text = await answer.text()
      expect(answer.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
      expect(answer.headers.get("access-control-allow-origin")).toBe("*")
      expect(text).toContain("p { color: red }")
      expect(text).not.toMatch(/\bimport\b|\bexport\b/)
      const document = { title: "" }
      new Function("document", text)(document)
      expect(document.title).toBe("hellop { color: red }")
    }))

  test("a bundle is gzipped if the client accepts it, with a Vary header", () =>
    within(source, async (directory) => {
      const bundle = browserBundle(join(directory, "main.ts"))
      const plain = await answered(bundle, {})
      expect(plain.headers.get("content-encoding")).toBeNull()
      const zipped = await answered(bundle, { "accept-encoding": "br, gzip;q=0.8" })
      expect(zipped.headers.get("content-encoding")).toBe("gzip")
      expect(zipped.headers.get("vary")).toBe("accept-encoding")
      const bytes = Bun.gunzipSync(new Uint8Array(await zipped.arrayBuffer()))
      expect(new TextDecoder().decode(bytes)).toBe(await plain.text())
    }))

  test("accept-encoding is parsed as specified", () => {
    for (const yes of ["gzip", "GZIP", "br, gzip", "*", "gzip;q=0.5"]) expect(acceptsGzip(yes)).toBe(true)
    for (const no of [undefined, "", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip2"])
      expect(acceptsGzip(no)).toBe(false)
  })

  test("the integrity is the SHA-384 of the served bytes", () =>
    within(source, async (directory) => {
      const bundle = browserBundle(join(directory, "main.ts"))
      const { integrity } = await Effect.runPromise(bundle)
      const digest = await crypto.subtle.digest("SHA-384", await (await answered(bundle, {})).arrayBuffer())
      expect(integrity).toBe(`sha384-${Buffer.from(digest).toString("base64")}`)
    }))

  test("a bundle is built once, on the first request, also for concurrent callers", () =>
    within(source, async (directory) => {
      const entry = join(directory, "main.ts")
      const bundle = browserBundle(entry)
      const all = await Promise.all([1, 2, 3].map(() => Effect.runPromise(bundle)))
      writeFileSync(entry, "broken(")
      expect(new Set([...all, await Effect.runPromise(bundle)]).size).toBe(1)
    }))

  test("a source that does not build is a typed failure, and the next caller tries again", () =>
    within({ "main.ts": "broken(" }, async (directory) => {
      const entry = join(directory, "main.ts")
      const bundle = browserBundle(entry)
      const failure = await Effect.runPromise(Effect.flip(bundle))
      expect(failure._tag).toBe("BundleFailed")
      expect(failure.message).toContain("main.ts")
      writeFileSync(entry, "document.title = 'now'")
      expect((await Effect.runPromise(bundle)).bytes.length).toBeGreaterThan(0)
    }))

  test("a same-origin script is not available to other origins", () =>
    within(source, async (directory) => {
      const answer = await answered(browserBundle(join(directory, "main.ts")), {}, false)
      expect(answer.headers.get("access-control-allow-origin")).toBeNull()
    }))
})
