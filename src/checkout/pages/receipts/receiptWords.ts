// Texts of the receipt pages, in the reader's language.

import { catalogues } from "../../../payments/receipts/catalogues.ts"
import { translated } from "../../../platform/pages/browser/dom.ts"

export const { language, money, text } = translated(catalogues)
