// Parses the text of a payment search.
import { Option, Schema } from "effect"
import { UsdAmount } from "../../../domain/Money.ts"

export type Search =
  | { readonly by: "id"; readonly id: string }
  /** The first and the last code with this beginning. */
  | { readonly by: "refCode"; readonly first: string; readonly last: string }
  /** A payer's address or a transaction's hash that begins with these hex digits. */
  | { readonly by: "hex"; readonly digits: string }
  | { readonly by: "intentUrl"; readonly prefix: string }
  /** In atomic USDC. */
  | { readonly by: "amount"; readonly amount: bigint }

/** Fewer digits of a hash, or fewer characters of a code, match too many payments. */
const minDigits = 4
const minCode = 3

const decodeAmount = Schema.decodeUnknownOption(UsdAmount)

const codeOf = (typed: string): Search | undefined => {
  const [, prefix = "", code = ""] = /^(PAY-?)?([A-Z0-9]{0,8})$/i.exec(typed) ?? []
  const isWhole = code.length === 8
  const isCode = prefix === "" ? /[A-Z]/i.test(code) || isWhole : true
  if (!isCode || code.length < minCode) return undefined
  const upper = code.toUpperCase()
  return { by: "refCode", first: `PAY-${upper.padEnd(8, "0")}`, last: `PAY-${upper.padEnd(8, "Z")}` }
}

const urlOf = (typed: string): Search | undefined => {
  if (/^https?:\/\/./i.test(typed)) return { by: "intentUrl", prefix: typed }
  return /^[\w-]+(\.[\w-]+)+(:\d+)?(\/\S*)?$/.test(typed) && /[a-z]/i.test(typed)
    ? { by: "intentUrl", prefix: `https://${typed}` }
    : undefined
}

/** Undefined if the text has none of the forms. */
export const searchOf = (text: string): Search | undefined => {
  const typed = text.trim()
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(typed)) return { by: "id", id: typed.toLowerCase() }
  const digits = /^0x([0-9a-f]{1,64})$/i.exec(typed)?.[1]?.toLowerCase()
  if (digits !== undefined) return digits.length < minDigits ? undefined : { by: "hex", digits }
  const amount = decodeAmount(/^\$?\s?([\d.]+)(\s?USDC?)?$/i.exec(typed)?.[1])
  const code = codeOf(typed)
  if (Option.isSome(amount) && code === undefined) return { by: "amount", amount: amount.value }
  return code ?? urlOf(typed)
}
