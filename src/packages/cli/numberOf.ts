// Parses numeric flags of the shops' command line.
import { CommandRefused } from "./CommandRefused.ts"

/** Parses a flag's value as a whole number. Without the flag it is `standard`. */
export const numberOf = (flag: string, text: string | undefined, standard: number): number => {
  if (text === undefined) return standard
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new CommandRefused(
    `--${flag} must be a whole number, not "${text}".`,
    2,
    `For example: --${flag} ${standard}`
  )
}
