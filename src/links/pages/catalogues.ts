// The words of the pages of payment links and the counter, by language.
import { ar } from "./messages/ar.ts"
import { de } from "./messages/de.ts"
import { en, type LinkMessages } from "./messages/en.ts"
import { es } from "./messages/es.ts"
import { fr } from "./messages/fr.ts"
import { ja } from "./messages/ja.ts"
import { pt } from "./messages/pt.ts"
import { zh } from "./messages/zh.ts"

export const catalogues = { en, de, fr, es, pt, ja, zh, ar } as const satisfies Readonly<
  Record<string, LinkMessages>
>
