// Streamed exports of a merchant's books, and statements.

import { QuittanceError } from "./QuittanceError.ts"
import type { Statement, StatementBalances } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

export interface BookPeriod {
  /** The first day, for example `2026-01-01`. */
  readonly from: string
  /** The last day, inclusive. */
  readonly to: string
  /** The time zone of the days, such as `Europe/Berlin`. Default: the merchant's. */
  readonly timeZone?: string
}

export interface BookStatement {
  readonly statement: Statement
  readonly balances: StatementBalances
}

export interface BookCalls {
  /**
   * The file as a stream. If its last line is missing, the stream fails with `NO_ANSWER`: an incomplete file
   * is never mistaken for a complete one, even if a proxy hides that the response broke off.
   */
  readonly export: (
    kind: "payments" | "refunds" | "transfers",
    period: BookPeriod & {
      readonly format?: "csv" | "json"
      /** The decimal mark of CSV: `comma` writes `41,20` and separates cells with `;`. */
      readonly decimal?: "point" | "comma"
    },
    options?: CallOptions
  ) => Promise<ReadableStream<Uint8Array>>
  readonly statement: (period: BookPeriod, options?: CallOptions) => Promise<BookStatement>
}

const query = (fields: object) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  )

/** The last line of a complete file, with its number of rows. */
const end = /(^|\n)(end[,;]\d+[,;]*\r\n|\],"rows":\d+\}\n)$/
const endBytes = 128

/** Passes a file through, and fails if its last line is missing. */
const whole = (): TransformStream<Uint8Array, Uint8Array> => {
  let last = new Uint8Array()
  return new TransformStream({
    transform: (bytes, controller) => {
      const joined = new Uint8Array(last.length + Math.min(bytes.length, endBytes))
      joined.set(last)
      joined.set(bytes.subarray(-endBytes), last.length)
      last = joined.slice(-endBytes)
      controller.enqueue(bytes)
    },
    flush: (controller) => {
      if (end.test(new TextDecoder().decode(last))) return
      controller.error(
        new QuittanceError({
          code: "NO_ANSWER",
          status: 0,
          message: "The export is incomplete: its last line is missing. Discard it and export again.",
          retryable: true
        })
      )
    }
  })
}

export const bookCalls = (call: Transport, objectOf: <A>(body: unknown) => A): BookCalls => ({
  export: async (kind, period, { signal } = {}) =>
    objectOf<ReadableStream<Uint8Array>>(
      await call({
        method: "GET",
        path: `/api/v1/exports/${kind}?${query(period)}`,
        idempotent: true,
        signal,
        stream: true
      })
    ).pipeThrough(whole()),
  statement: async (period, { signal } = {}) =>
    objectOf(
      await call({ method: "GET", path: `/api/v1/statement?${query(period)}`, idempotent: true, signal })
    )
})
