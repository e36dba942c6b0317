// How far `listen` has come, in a file that is replaced as a whole: a crash leaves the
// old one or the new one.
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { Effect, Schema } from "effect"
import { CommandFailed } from "./CommandFailed.ts"

/**
 * Deliveries are asked for from some time before the newest one on: one that was created
 * earlier may become visible later, when its settlement commits.
 */
const overlapMillis = 120_000

export interface Cursor {
  /** Where the first look began. */
  readonly start: Date
  readonly newest: Date
  /** Forwarded already, of those that the next look would find again. */
  readonly forwarded: ReadonlyArray<{ readonly id: string; readonly at: Date }>
}

const File = Schema.fromJsonString(
  Schema.Struct({
    start: Schema.String,
    newest: Schema.String,
    forwarded: Schema.Array(Schema.Struct({ id: Schema.String, at: Schema.String }))
  })
)

/** From when to look. */
export const lookFrom = ({ start, newest }: Cursor): Date =>
  new Date(Math.max(start.getTime(), newest.getTime() - overlapMillis))

/** The cursor after one more was forwarded. */
export const advanced = (cursor: Cursor, id: string, at: Date): Cursor => {
  const newest = at > cursor.newest ? at : cursor.newest
  const moved = { ...cursor, newest }
  const from = lookFrom(moved)
  return { ...moved, forwarded: [...cursor.forwarded, { id, at }].filter((one) => one.at >= from) }
}

const missing = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT"

/** The stored cursor, or a new one that begins now. */
export const readCursor = Effect.fnUntraced(function* (
  path: string,
  now: Date
): Effect.fn.Return<Cursor, CommandFailed> {
  const text = yield* Effect.try({
    try: () => {
      try {
        return readFileSync(path, "utf8")
      } catch (error) {
        if (missing(error)) return undefined
        throw error
      }
    },
    catch: () =>
      new CommandFailed({ message: `The cursor ${path} cannot be read. Name another with --cursor.` })
  })
  if (text === undefined) return { start: now, newest: now, forwarded: [] }
  const stored = yield* Schema.decodeUnknownEffect(File)(text).pipe(
    Effect.mapError(
      () =>
        new CommandFailed({
          message: `${path} is no cursor. Delete it to begin now, or name another with --cursor.`
        })
    )
  )
  return {
    start: new Date(stored.start),
    newest: new Date(stored.newest),
    forwarded: stored.forwarded.map(({ id, at }) => ({ id, at: new Date(at) }))
  }
})

export const writeCursor = (path: string, cursor: Cursor) =>
  Effect.try({
    try: () => {
      writeFileSync(`${path}.next`, JSON.stringify(cursor))
      renameSync(`${path}.next`, path)
    },
    catch: () =>
      new CommandFailed({ message: `The cursor ${path} cannot be written. Name another with --cursor.` })
  })
