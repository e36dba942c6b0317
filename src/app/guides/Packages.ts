// The packages of this release. Requested versions are cached in DATA_DIR and still served after an upgrade,
// at a URL with a digest of their content. The URL without a digest serves the current release.
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, rename, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect, type Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { version } from "../../../package.json"
import { AppConfig } from "../../platform/AppConfig.ts"
import { wheelName } from "../packages/wheelName.ts"
import { build, builtPlace, isSource, isUpToDate } from "./fromSources.ts"

interface Archive {
  readonly what: string
  /** The argument of `bun run packages` that builds the archive. */
  readonly source: string
  /** The archive's file name. */
  readonly file: string
  readonly contentType: string
}

/** By the last part of their URLs. */
const archives: Readonly<Record<string, Archive>> = {
  ...Object.fromEntries(
    ["client", "checkout", "cli", "agent-proxy", "medusa"].map((name) => [
      `${name}.tgz`,
      {
        what: `@quittance/${name}`,
        source: name,
        file: `quittance-${name}-${version}.tgz`,
        contentType: "application/gzip"
      }
    ])
  ),
  // For Python's pip, PHP's Composer and WordPress.
  ...Object.fromEntries(
    [wheelName, "php.zip", "woocommerce.zip"].map((name) => [
      name,
      { what: name, source: name, file: name, contentType: "application/zip" }
    ])
  )
}

const present = Object.keys(archives).map((name) => `/packages/${name}` as const)
const byContent = "/packages/:content/:name"

export const packagePaths: ReadonlyArray<string> = [...present, byContent]

const contentOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex").slice(0, 32)

const fileOf = async ({ file, source }: Archive): Promise<string | undefined> => {
  const path = builtPlace(`packages/${file}`)
  return isUpToDate(path) || (await build("app/packages/build.ts", source)) ? path : undefined
}

const bytesOf = async (name: string): Promise<Uint8Array | undefined> => {
  const archive = archives[name]
  const file = archive === undefined ? undefined : await fileOf(archive)
  return file === undefined ? undefined : Bun.file(file).bytes()
}

/** In a clone: builds every package that is missing or older than its sources. */
export const buildPackages = async (): Promise<void> => {
  for (const archive of isSource ? Object.values(archives) : []) await fileOf(archive)
}

/** Replaces the package URLs in a text with those that contain a digest. */
export const namingContents = async (text: string, baseUrl: string): Promise<string> => {
  const short = (name: string) => `${baseUrl}/packages/${name}`
  const packageNames = Object.keys(archives).filter((name) => text.includes(short(name)))
  const contents = await Promise.all(packageNames.map(async (name) => ({ name, bytes: await bytesOf(name) })))
  return contents.reduce(
    (all, { bytes, name }) =>
      bytes === undefined
        ? all
        : all.replaceAll(short(name), `${baseUrl}/packages/${contentOf(bytes)}/${name}`),
    text
  )
}

/** Names of earlier releases are valid too; their wheel had another name. */
const Address = Schema.Struct({
  content: Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/)),
  name: Schema.String.check(Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,99}\.(tgz|zip|whl)$/))
})

const cachedFile = (dataDir: string, content: string, name: string) =>
  join(dataDir, "packages", content, name)

/** If DATA_DIR is not writable, the next release cannot serve this version. */
const keep = async (file: string, bytes: Uint8Array): Promise<void> => {
  if (existsSync(file)) return
  const partial = `${file}.${crypto.randomUUID()}.partial`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(partial, bytes, { flush: true })
    await rename(partial, file)
  } catch {}
}

const answer = (bytes: Uint8Array, name: string) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType:
      archives[name]?.contentType ?? (name.endsWith(".tgz") ? "application/gzip" : "application/zip")
  })

const absent = (text: string) => HttpServerResponse.text(`${text}\n`, { status: 404 })

export const layer: Layer.Layer<never, never, HttpRouter.HttpRouter | AppConfig> = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    for (const [name, { what }] of Object.entries(archives))
      yield* router.add(
        "GET",
        `/packages/${name}`,
        Effect.promise(async () => {
          const bytes = await bytesOf(name)
          return bytes === undefined
            ? absent(`${what} could not be built: \`bun run packages\` says why.`)
            : HttpServerResponse.setHeader(
                answer(bytes, name),
                "content-location",
                `/packages/${contentOf(bytes)}/${name}`
              )
        })
      )
    yield* router.add(
      "GET",
      byContent,
      HttpRouter.schemaPathParams(Address).pipe(
        Effect.flatMap(({ content, name }) =>
          Effect.promise(async () => {
            const file = cachedFile(dataDir, content, name)
            const bytes = await bytesOf(name)
            if (bytes !== undefined && contentOf(bytes) === content) {
              await keep(file, bytes)
              return answer(bytes, name)
            }
            const before = existsSync(file) ? await Bun.file(file).bytes() : undefined
            return before !== undefined && contentOf(before) === content
              ? answer(before, name)
              : absent(
                  "This service no longer has that package: /docs/clients and /docs/plugins name the present ones."
                )
          })
        ),
        Effect.orElseSucceed(() => absent("No package has this address."))
      )
    )
  })
)
