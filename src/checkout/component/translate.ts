// Words and amounts in the buyer's language. A new language is a file in messages/ and a line here. All other
// languages translate the English; words in braces are placeholders.
import { type Translation as Localised, localised } from "../../platform/pages/browser/localised.ts"
import ar from "./messages/ar.json"
import de from "./messages/de.json"
import en from "./messages/en.json"
import es from "./messages/es.json"
import fr from "./messages/fr.json"
import ja from "./messages/ja.json"
import pt from "./messages/pt.json"
import zh from "./messages/zh.json"

export type MessageKey = keyof typeof en
type Messages = Readonly<Record<MessageKey, string>>

export const languages = { en, de, fr, es, pt, ja, zh, ar } as const satisfies Readonly<
  Record<string, Messages>
>

export type Translation = Localised<MessageKey>

/** The first of the tags whose language is available; otherwise English. */
export const translation = (tags: ReadonlyArray<string>): Translation => localised(languages, tags)
