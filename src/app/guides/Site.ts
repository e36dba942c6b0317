// The built site of / and /docs: files with the service's URL and its packages' URLs filled in.
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { AppConfig } from "../../platform/AppConfig.ts"
import { policyOf } from "../../platform/pages/pageHeaders.ts"
import { build, builtPlace, isUpToDate } from "./fromSources.ts"
import { buildPackages, namingContents } from "./Packages.ts"

/** Placeholder for the service's URL. It reads as a URL in every language's highlighting. */
export const addressPlaceholder = "https://base-url.invalid"

export interface SiteFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly contentType: string
  /** A page's security policy: only files, and the few inline scripts and styles by their hashes. */
  readonly policy: string | undefined
}

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml"
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64")

const policyFor = (html: string) => {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, code = ""]) => `'sha256-${sha256(code)}'`
  )
  return policyOf({
    "script-src": ["'self'", ...new Set(inline)].join(" "),
    "style-src": "'self'",
    "img-src": "'self' data:"
  })
}

/** The site's directory, built if necessary; undefined if that fails. */
const place = async (): Promise<string | undefined> => {
  const directory = builtPlace("docs")
  const isThere = isUpToDate(join(directory, "index.html"))
  return isThere || (await build("app/guides/build.ts")) ? directory : undefined
}

/** In a clone: builds the site and the packages in the background, so that the first reader does not wait for them. */
export const buildAhead: Effect.Effect<void, never, AppConfig> = Effect.map(AppConfig, ({ processSlot }) => {
  if (Option.exists(processSlot, ({ isFirst }) => !isFirst)) return
  // One after the other: together they take twice as long to show the first page.
  void place().then(buildPackages)
})

/** A file of the site, kept in memory after its first request; undefined if there is none. */
export const siteFiles = (baseUrl: string): ((path: string) => Promise<SiteFile | undefined>) => {
  const cache = new Map<string, SiteFile>()
  return async (path) => {
    const cached = cache.get(path)
    if (cached !== undefined) return cached
    const directory = await place()
    const file = directory === undefined ? undefined : join(directory, path)
    if (file === undefined || !existsSync(file)) return undefined
    const text = await namingContents(
      (await Bun.file(file).text()).replaceAll(addressPlaceholder, baseUrl),
      baseUrl
    )
    const bytes = new TextEncoder().encode(text)
    const extension = /\.(\w+)$/.exec(path)?.[1] ?? ""
    const siteFile = {
      bytes,
      gzip: Bun.gzipSync(bytes, { level: 9 }),
      etag: `"${sha256(text)}"`,
      contentType: contentTypes[extension] ?? "application/octet-stream",
      policy: extension === "html" ? policyFor(text) : undefined
    }
    cache.set(path, siteFile)
    return siteFile
  }
}
