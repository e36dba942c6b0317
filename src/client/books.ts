// Exports of a merchant's books, as they stream, and statements.

import { QuittanceError } from "./QuittanceError.ts"
import type { Statement, StatementBalances } from "./resources.ts"
import type { CallOptions, QuittanceOptions, Transport } from "./transport.ts"

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

export const bookCalls = (
  { baseUrl, fetch: own, key }: QuittanceOptions,
  call: Transport,
  answered: <A>(body: unknown) => A
): BookCalls => ({
  export: async (kind, period, { signal } = {}) => {
    const path = `/api/v1/exports/${kind}?${query(period)}`
    // The body of a refusal is short; what streams is read by the caller alone, without a deadline.
    const send = own ?? ((input: string, init: RequestInit) => fetch(input, init))
    const response = await send(`${baseUrl.replace(/\/+$/, "")}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(signal === undefined ? {} : { signal })
    })
    if (response.ok && response.body !== null) return response.body
    // Asked again by the transport, which knows what an error is.
    await response.body?.cancel()
    await call({ method: "GET", path, idempotent: true, signal })
    throw new QuittanceError({
      code: "NO_ANSWER",
      status: response.status,
      message: "The export did not begin. Try again.",
      retryable: true
    })
  },
  statement: async (period, { signal } = {}) =>
    answered(
      await call({ method: "GET", path: `/api/v1/statement?${query(period)}`, idempotent: true, signal })
    )
})
