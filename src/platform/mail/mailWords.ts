// The texts of emails, in the languages of the checkout. `{name}` is a placeholder.
import type { Locale } from "../../domain/Locale.ts"
import ar from "./words/ar.json"
import de from "./words/de.json"
import en from "./words/en.json"
import es from "./words/es.json"
import fr from "./words/fr.json"
import ja from "./words/ja.json"
import pt from "./words/pt.json"
import zh from "./words/zh.json"

export type MailWords = Readonly<Record<keyof typeof en, string>>

export const mailWords: Readonly<Record<Locale, MailWords>> = { en, de, es, fr, pt, ja, zh, ar }

/** The words with their values. A value is never treated as another placeholder. */
export const fillPlaceholders = (words: string, values: Readonly<Record<string, string>>): string =>
  words.replace(/\{(\w+)\}/gu, (whole, name: string) => values[name] ?? whole)
