// Rows of the books as CSV (RFC 4180) and JSON. Pure.
import { parseAddress } from "../../chain/Address.ts"
import type { Env } from "../../domain/Chain.ts"
import { formatUsd } from "../../domain/Money.ts"
import type { BookRow, ExportKind } from "./BooksRepo.ts"

export type ExportFormat = "csv" | "json"

type Cell = "text" | "amount" | "time" | "address"

/** The columns of each export, in their order; a new one comes last. */
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

/** A spreadsheet takes a text that begins like this for a formula. */
const isFormula = /^[=+\-@\t\r]/

const quoted = (text: string) => {
  const safe = isFormula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Makes the lines of one export. */
export const makeExportText = (kind: ExportKind, env: Env, format: ExportFormat, timeZone: string) => {
  const columns = Object.entries(exportColumns[kind])
  const local = localTimes(timeZone)

  const valuesOf = ({ cells }: BookRow): ReadonlyArray<readonly [string, string | null]> =>
    columns.flatMap(([name, cell]): ReadonlyArray<readonly [string, string | null]> => {
      const value = cells[name] ?? null
      if (cell === "time")
        return [
          [name, value === null ? null : new Date(Number(value)).toISOString()],
          [`${name}Local`, value === null ? null : local(Number(value))]
        ]
      if (value === null || cell === "text") return [[name, value]]
      return [[name, cell === "amount" ? formatUsd(BigInt(value)) : (parseAddress(value) ?? value)]]
    })

  const header = columns.flatMap(([name, cell]) => (cell === "time" ? [name, `${name}Local`] : [name]))
  return format === "csv"
    ? {
        // Excel reads UTF-8 where it finds this mark.
        head: `\uFEFF${[...header, "currency", "env"].join(",")}\r\n`,
        line: (row: BookRow) =>
          `${[...valuesOf(row).map(([, value]) => quoted(value ?? "")), "USDC", env].join(",")}\r\n`,
        separator: "",
        tail: ""
      }
    : {
        head: `{"${kind}":[\n`,
        line: (row: BookRow) =>
          JSON.stringify(Object.fromEntries([...valuesOf(row), ["currency", "USDC"], ["env", env]])),
        separator: ",\n",
        tail: "\n]}\n"
      }
}
