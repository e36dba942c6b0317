// Words and amounts in the buyer's language. A new language is a file in messages/
// and a line here.
import { type Translation as Localised, localised } from "../../pages/browser/localised.ts"
import { ar } from "./messages/ar.ts"
import { de } from "./messages/de.ts"
import { en, type MessageKey, type Messages } from "./messages/en.ts"
import { es } from "./messages/es.ts"
import { fr } from "./messages/fr.ts"
import { ja } from "./messages/ja.ts"
import { pt } from "./messages/pt.ts"
import { zh } from "./messages/zh.ts"

export const languages = { en, de, fr, es, pt, ja, zh, ar } as const satisfies Readonly<
  Record<string, Messages>
>

export type Translation = Localised<MessageKey>

/** The first of the tags whose language there is; English otherwise. */
export const translation = (tags: ReadonlyArray<string>): Translation => localised(languages, tags)
