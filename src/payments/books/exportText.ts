// Rows of the books as CSV (RFC 4180) and JSON. Pure.
import { parseAddress } from "../../chain/Address.ts"
import type { Env } from "../../domain/Chain.ts"
import { formatUsd } from "../../domain/Money.ts"
import type { BookRow, ExportKind } from "./BooksRepo.ts"

export type ExportFormat = "csv" | "json"
/** The decimal mark of CSV: with a comma, semicolons separate cells. */
export type DecimalMark = "point" | "comma"

type Cell = "text" | "amount" | "time" | "address"

/** The columns of each export, in order. A new column comes last. */
export const exportColumns: Readonly<Record<ExportKind, Readonly<Record<string, Cell>>>> = {
  payments: {
    at: "time",
    id: "text",
    reference: "text",
    order: "text",
    amount: "amount",
    refunded: "amount",
    payer: "address",
    receiver: "address",
    transaction: "text",
    payerType: "text",
    openedAt: "time"
  },
  refunds: {
    at: "time",
    id: "text",
    reference: "text",
    payment: "text",
    incomingTransfer: "text",
    amount: "amount",
    recipient: "address",
    sender: "address",
    transaction: "text",
    reason: "text",
    by: "text",
    createdAt: "time"
  },
  transfers: {
    at: "time",
    direction: "text",
    kind: "text",
    amount: "amount",
    from: "address",
    to: "address",
    transaction: "text",
    block: "text",
    reference: "text",
    refund: "text",
    note: "text",
    by: "text"
  }
}

/** `2026-01-31 13:05:00` in the time zone. */
const localTimes = (timeZone: string) => {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" })
  return (millis: number) => format.format(millis)
}

/** A spreadsheet treats a text with this beginning as a formula. */
const isFormula = /^[=+\-@\t\r]/

/** Quotes only where the format requires it, because some spreadsheets read a quoted amount as text. */
const quoted = (text: string, separator: string) => {
  const safe = isFormula.test(text) ? `'${text}` : text
  return safe.includes(separator) || /["\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Creates the lines of one export. The last line contains the number of rows: a file without it is incomplete. */
export const makeExportText = (
  kind: ExportKind,
  env: Env,
  format: ExportFormat,
  timeZone: string,
  decimal: DecimalMark = "point"
) => {
  const columns = Object.entries(exportColumns[kind])
  const local = localTimes(timeZone)
  const amountOf = (atomic: string) => {
    const amount = formatUsd(BigInt(atomic))
    return decimal === "comma" ? amount.replace(".", ",") : amount
  }
  const between = decimal === "comma" ? ";" : ","
  const csvLine = (cells: ReadonlyArray<string>) =>
    `${cells.map((cell) => quoted(cell, between)).join(between)}\r\n`

  const valuesOf = ({ cells }: BookRow): ReadonlyArray<readonly [string, string | null]> =>
    columns.flatMap(([name, cell]): ReadonlyArray<readonly [string, string | null]> => {
      const value = cells[name] ?? null
      if (cell === "time")
        return [
          [name, value === null ? null : new Date(Number(value)).toISOString()],
          [`${name}Local`, value === null ? null : local(Number(value))]
        ]
      if (value === null || cell === "text") return [[name, value]]
      return [[name, cell === "amount" ? amountOf(value) : (parseAddress(value) ?? value)]]
    })

  const header = columns.flatMap(([name, cell]) => (cell === "time" ? [name, `${name}Local`] : [name]))
  const names = [...header, "currency", "env"]
  return format === "csv"
    ? {
        // Excel recognises UTF-8 by this mark.
        head: `\uFEFF${csvLine(names)}`,
        line: (row: BookRow) => csvLine([...valuesOf(row).map(([, value]) => value ?? ""), "USDC", env]),
        separator: "",
        tail: (rows: number) => csvLine(names.map((_, index) => ["end", String(rows)][index] ?? ""))
      }
    : {
        head: `{"${kind}":[\n`,
        line: (row: BookRow) =>
          JSON.stringify(Object.fromEntries([...valuesOf(row), ["currency", "USDC"], ["env", env]])),
        separator: ",\n",
        tail: (rows: number) => `\n],"rows":${rows}}\n`
      }
}
