// `export`: a period of a merchant's books, to standard output.
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { Day, TimeZone } from "../../domain/Period.ts"
import { Books } from "../../payments/books/Books.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, merchantId } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const day = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(Day))

/** As much as the reader takes: nothing piles up where it is slow. */
const write = (bytes: Uint8Array) =>
  Effect.callback<void, CommandFailed>((resume) => {
    process.stdout.write(bytes, (error) =>
      resume(
        error === undefined || error === null
          ? Effect.void
          : new CommandFailed({
              message: `The export cannot be written: ${error.message}. What there is of it is not whole.`
            })
      )
    )
  })

/** Whoever writes is told: a stream whose failure nobody hears ends the process. */
const unheard = () => undefined
const writable = Effect.acquireRelease(
  Effect.sync(() => process.stdout.on("error", unheard)),
  () => Effect.sync(() => process.stdout.off("error", unheard))
)

export const exportBooks = Command.make(
  "export",
  {
    merchant: merchantId,
    env,
    kind: Flag.Literals("kind", ["payments", "refunds", "transfers"]).pipe(
      Flag.withDescription("payments, refunds or transfers")
    ),
    from: day("from", "The first day, such as 2026-01-01"),
    to: day("to", "The last day, included"),
    timeZone: Flag.String("time-zone").pipe(
      Flag.withDescription("Where the days begin; the merchant's own when absent"),
      Flag.withSchema(TimeZone),
      Flag.optional
    ),
    format: Flag.Literals("format", ["csv", "json"]).pipe(
      Flag.withDescription("csv or json"),
      Flag.withDefault("csv")
    )
  },
  Effect.fn("export")(function* ({ env: of, format, from, kind, merchant, timeZone, to }) {
    yield* requireMerchant(merchant)
    const books = yield* Books
    const period = yield* books.period(merchant, {
      from,
      to,
      ...(Option.isSome(timeZone) ? { timeZone: timeZone.value } : {})
    })
    if (Option.isNone(period))
      return yield* new CommandFailed({ message: "--to must be the day of --from or a later one." })
    yield* writable
    yield* books
      .export(kind, { merchantId: merchant, env: of }, period.value, format)
      .pipe(Stream.runForEach(write))
  }, Effect.scoped)
).pipe(Command.withDescription("Export a period of a merchant's books as CSV or JSON"))
