import { CommandRefused } from "./CommandRefused.ts"

/** The whole number that stands for a flag. */
export const numberOf = (flag: string, text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new CommandRefused(`--${flag} takes a whole number, not "${text}".`, 2)
}
