// Exports of a merchant's books, as they stream, and statements.

import type { Statement, StatementBalances } from "./resources.ts"
import type { CallOptions, Transport } from "./transport.ts"

export interface BookPeriod {
  /** The first day, `2026-01-01`. */
  readonly from: string
  /** The last day, included. */
  readonly to: string
  /** Where the days begin, such as `Europe/Berlin`; the merchant's own when absent. */
  readonly timeZone?: string
}

export interface BookStatement {
  readonly statement: Statement
  readonly balances: StatementBalances
}

export interface BookCalls {
  /** The file as it comes: it fails where the answer breaks off, so that half of one is never taken for all. */
  readonly export: (
    kind: "payments" | "refunds" | "transfers",
    period: BookPeriod & { readonly format?: "csv" | "json" },
    options?: CallOptions
  ) => Promise<ReadableStream<Uint8Array>>
  readonly statement: (period: BookPeriod, options?: CallOptions) => Promise<BookStatement>
}

const query = (fields: object) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  )

export const bookCalls = (call: Transport, answered: <A>(body: unknown) => A): BookCalls => ({
  export: async (kind, period, { signal } = {}) =>
    answered(
      await call({
        method: "GET",
        path: `/api/v1/exports/${kind}?${query(period)}`,
        idempotent: true,
        signal,
        stream: true
      })
    ),
  statement: async (period, { signal } = {}) =>
    answered(
      await call({ method: "GET", path: `/api/v1/statement?${query(period)}`, idempotent: true, signal })
    )
})
