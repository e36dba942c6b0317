// `export`: writes a period of a merchant's books to standard output.
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { Day, TimeZone } from "../../domain/Period.ts"
import { Books } from "../../payments/books/Books.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, merchantId } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const day = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(Day))

/** Writes at the reader's speed, so a slow reader does not fill the memory. */
const write = (bytes: Uint8Array) =>
  Effect.callback<void, CommandFailed>((resume) => {
    process.stdout.write(bytes, (error) =>
      resume(
        error === undefined || error === null
          ? Effect.void
          : new CommandFailed({
              message: `The export failed: ${error.message}. Discard the incomplete file.`
            })
      )
    )
  })

/** The writer receives the error. Without this handler, an unhandled stream error would end the process. */
const ignoreError = () => undefined
const withErrorHandler = Effect.acquireRelease(
  Effect.sync(() => process.stdout.on("error", ignoreError)),
  () => Effect.sync(() => process.stdout.off("error", ignoreError))
)

export const exportBooks = Command.make(
  "export",
  {
    merchant: merchantId,
    env,
    kind: Flag.Literals("kind", ["payments", "refunds", "transfers"]).pipe(
      Flag.withDescription("The list to export")
    ),
    from: day("from", "The first day, such as 2026-01-01"),
    to: day("to", "The last day, inclusive"),
    timeZone: Flag.String("time-zone").pipe(
      Flag.withDescription("The time zone of the days; by default the merchant's"),
      Flag.withSchema(TimeZone),
      Flag.optional
    ),
    format: Flag.Literals("format", ["csv", "json"]).pipe(
      Flag.withDescription("The file's format; csv by default"),
      Flag.withDefault("csv")
    ),
    decimal: Flag.Literals("decimal", ["point", "comma"]).pipe(
      Flag.withDescription(
        "For CSV: the decimal mark, point by default; with comma, cells are separated by ;"
      ),
      Flag.withDefault("point")
    )
  },
  Effect.fn("export")(function* ({ decimal, env: environment, format, from, kind, merchant, timeZone, to }) {
    yield* requireMerchant(merchant)
    const books = yield* Books
    const period = yield* books.period(merchant, {
      from,
      to,
      ...(Option.isSome(timeZone) ? { timeZone: timeZone.value } : {})
    })
    if (Option.isNone(period))
      return yield* new CommandFailed({ message: "--to must be the day of --from or later." })
    if (format === "json" && decimal === "comma")
      return yield* new CommandFailed({
        message: "JSON always has decimal points. Leave --decimal out, or pass --format csv."
      })
    yield* withErrorHandler
    yield* books
      .export(kind, { merchantId: merchant, env: environment }, period.value, format, decimal)
      .pipe(Stream.runForEach(write))
  }, Effect.scoped)
).pipe(
  Command.withDescription("Export a period of a merchant's books as CSV or JSON"),
  Command.withExamples([
    {
      command:
        "bun run cli export --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test --kind payments --from 2026-11-01 --to 2026-11-30 > payments.csv",
      description: "Exports a month of payments as CSV"
    }
  ])
)
