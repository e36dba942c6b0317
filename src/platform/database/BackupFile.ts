// A backup: gzipped lines of text. The first line is the format, `#begin` lists the migrations. Rows follow the name
// of their table, one JSON object per line; `#end` has the row count and checksum of each table.
import { createReadStream, createWriteStream } from "node:fs"
import { open, readdir, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { createGunzip, createGzip } from "node:zlib"
import { Effect, Schema } from "effect"
import { CopyFailed } from "./Copy/CopyFailed.ts"
import { Manifest, type Sink } from "./Copy.ts"

const format = "#quittance backup 1"
const batch = 500

const Begin = Schema.fromJsonString(Schema.Array(Schema.String))
const End = Schema.fromJsonString(Manifest)

const because = (what: string) => (error: unknown) =>
  error instanceof CopyFailed
    ? error
    : new CopyFailed({ message: `${what}: ${error instanceof Error ? error.message : String(error)}` })

/** A partial file this old is abandoned: no write or read of a running backup takes this long. */
const abandonedMillis = 3_600_000

/** Removes the partial files of killed backups to this path. */
const sweep = async (path: string) => {
  const directory = dirname(path)
  for (const name of await readdir(directory)) {
    const [own, rest] = [name.slice(0, basename(path).length), name.slice(basename(path).length)]
    if (own !== basename(path) || !/^\.[0-9a-f]{8}\.partial$/.test(rest)) continue
    const left = join(directory, name)
    if (Date.now() - (await stat(left)).mtimeMs > abandonedMillis) await rm(left, { force: true })
  }
}

/** Writes the complete file or none. Only its owner can read it. */
export const writeBackup = Effect.fn("BackupFile.write")(function* <A, E, R>(
  path: string,
  source: (sink: Sink) => Effect.Effect<A, E, R>
) {
  // The partial file is only this backup's, because another backup to the same file may be running.
  const partial = `${path}.${crypto.randomUUID().slice(0, 8)}.partial`
  const fails = because(`${path} cannot be written`)
  // An unreadable directory does not prevent a backup, nor does another process that sweeps it.
  yield* Effect.ignore(Effect.tryPromise(() => sweep(path)))
  return yield* Effect.acquireUseRelease(
    Effect.try({
      try: () => {
        const zip = createGzip()
        const file = createWriteStream(partial, { mode: 0o600, flags: "wx" })
        const written = pipeline(zip, file)
        // Awaited at the end, or by a write that fails.
        written.catch(() => undefined)
        return { zip, written }
      },
      catch: fails
    }),
    ({ written, zip }) =>
      Effect.gen(function* () {
        let table = ""
        const write = (text: string) =>
          Effect.tryPromise({
            try: () =>
              new Promise<void>((done, fail) =>
                zip.write(text, (error) => (error === undefined || error === null ? done() : fail(error)))
              ).catch(async (error) => {
                // The file's own failure comes first: a later write only reports that the file has ended.
                await written
                throw error
              }),
            catch: fails
          }).pipe(Effect.timeout("60 seconds"), Effect.mapError(fails))
        yield* write(`${format}\n`)
        const copied = yield* source({
          begin: (migrations) => write(`#begin ${JSON.stringify(migrations)}\n`),
          rows: (name, rows) => {
            const heading = name === table ? "" : `#table ${name}\n`
            table = name
            return write(`${heading}${rows.join("\n")}\n`)
          },
          end: (manifest) => write(`#end ${Schema.encodeSync(End)(manifest)}\n`)
        })
        yield* Effect.tryPromise({
          try: async () => {
            zip.end()
            await written
            const file = await open(partial, "r")
            await file.sync()
            await file.close()
            await rename(partial, path)
          },
          catch: fails
        })
        return copied
      }),
    ({ zip }) =>
      Effect.promise(async () => {
        zip.destroy()
        await rm(partial, { force: true })
      })
  )
})

/** Only a line feed ends a line. node:readline also splits at U+2028, which JSON text may contain. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let open = ""
  for await (const chunk of chunks) {
    const lines = (open + decoder.decode(chunk, { stream: true })).split("\n")
    open = lines.pop() ?? ""
    yield* lines
  }
  if (open !== "") yield open
}

/** Passes the file's contents to the sink. */
export const readBackup = (path: string) =>
  Effect.fn("BackupFile.read")(function* (sink: Sink) {
    const fails = because(`${path} cannot be read`)
    const zip = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const file = createReadStream(path)
        const unzipped = createGunzip()
        file.on("error", (error) => unzipped.destroy(error))
        unzipped.on("close", () => file.destroy())
        return file.pipe(unzipped)
      }),
      (open) => Effect.sync(() => open.destroy())
    )
    const each = linesOf(zip)
    const next = Effect.tryPromise({
      try: async () => {
        const { done, value } = await each.next()
        return done === true ? undefined : value
      },
      catch: fails
    })
    if ((yield* next) !== format) {
      return yield* new CopyFailed({
        message: `${path} is not a backup of this service: its first line is not "${format}".`
      })
    }
    let table = ""
    let rows: Array<string> = []
    const flush = Effect.suspend(() => {
      const full = rows
      rows = []
      return full.length === 0 ? Effect.void : sink.rows(table, full)
    })
    for (let line = yield* next; line !== undefined; line = yield* next) {
      if (line.startsWith("#begin ")) {
        yield* sink.begin(yield* Schema.decodeEffect(Begin)(line.slice(7)))
      } else if (line.startsWith("#table ")) {
        yield* flush
        table = line.slice(7)
      } else if (line.startsWith("#end ")) {
        yield* flush
        const manifest = yield* Schema.decodeEffect(End)(line.slice(5))
        yield* sink.end(manifest)
        return manifest
      } else {
        rows.push(line)
        if (rows.length >= batch) yield* flush
      }
    }
    return yield* new CopyFailed({
      message: `${path} is incomplete. Nothing was restored.`
    })
  }, Effect.scoped)
