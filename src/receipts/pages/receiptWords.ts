// What the pages of receipts say, in the reader's language.
import { translated } from "../../pages/browser/dom.ts"
import { catalogues } from "./catalogues.ts"

export const { language, money, text } = translated(catalogues)
