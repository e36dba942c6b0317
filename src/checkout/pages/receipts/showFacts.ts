// Shows a receipt's content and what has changed since its signature, on the receipt's page and after a
// verification.
import { isTest, networks } from "../../../domain/networks.ts"
import { language, money, text as t } from "./receiptWords.ts"
import type { ReceiptClaims } from "./verifyReceipt.ts"

interface ShownRefund {
  readonly amount: string
  readonly provenAt: string
  readonly transactionId: string
}

/** Changes since the receipt was signed, which its signature does not cover. */
export interface SinceSigned {
  readonly refunded: ReadonlyArray<ShownRefund>
  /** The transaction that pays instead of the receipt's. */
  readonly replacedBy?: string
}

/** Fills a description list with the receipt's content. */
export const showFacts = (
  list: HTMLElement,
  claims: ReceiptClaims,
  more: boolean,
  { refunded, replacedBy }: SinceSigned = { refunded: [] }
): void => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ...(more
      ? ([
          [t("merchant"), claims.merchant],
          [t("amount"), t("inUsdc", { amount: money(claims.amount) })]
        ] as const)
      : []),
    [t("reference"), claims.refCode],
    [
      t("paid"),
      new Date(claims.settledAt).toLocaleString(language, { dateStyle: "long", timeStyle: "long" })
    ],
    [
      t("network"),
      isTest(claims.env)
        ? t("testNetwork", { network: networks[claims.env].name })
        : networks[claims.env].name
    ],
    [t("from"), claims.payer],
    [t("to"), claims.receiver],
    [t("transaction"), claims.transactionId],
    ...(replacedBy === undefined ? [] : [[t("replacedBy"), replacedBy] as const]),
    ...refunded.flatMap(
      ({ amount, provenAt, transactionId }): ReadonlyArray<readonly [string, string]> => [
        [
          t("refunded"),
          t("refundedOn", {
            amount: money(amount),
            date: new Date(provenAt).toLocaleDateString(language, { dateStyle: "long" })
          })
        ],
        [t("transaction"), transactionId]
      ]
    ),
    [t("issuedBy"), claims.iss]
  ]
  list.replaceChildren(
    ...rows.map(([name, value]) => {
      const row = document.createElement("div")
      const [term, text] = [document.createElement("dt"), document.createElement("dd")]
      term.textContent = name
      // Addresses and times keep their own direction.
      const own = document.createElement("bdi")
      own.textContent = value
      own.translate = false
      if (value.startsWith("0x")) own.className = "hash"
      text.append(own)
      row.append(term, text)
      return row
    })
  )
}
