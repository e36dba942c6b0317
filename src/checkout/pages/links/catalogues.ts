// The texts of the pages of payment links and the counter, by language.
import ar from "./messages/ar.json"
import de from "./messages/de.json"
import en from "./messages/en.json"
import es from "./messages/es.json"
import fr from "./messages/fr.json"
import ja from "./messages/ja.json"
import pt from "./messages/pt.json"
import zh from "./messages/zh.json"

type LinkMessages = Readonly<Record<keyof typeof en, string>>

export const catalogues = { en, de, fr, es, pt, ja, zh, ar } as const satisfies Readonly<
  Record<string, LinkMessages>
>
