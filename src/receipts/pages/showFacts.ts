import type { ReceiptClaims } from "./verifyReceipt.ts"

/** A decimal USD amount as money. */
export const money = (amount: string): string =>
  /^\d+(\.\d+)?$/.test(amount)
    ? new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 6 }).format(
        amount as `${number}`
      )
    : amount

/** Fills a description list with what the receipt says. */
export const showFacts = (list: HTMLElement, claims: ReceiptClaims, more: boolean): void => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ...(more
      ? ([
          ["Merchant", claims.merchant],
          ["Amount", `${money(claims.amount)} in USDC`]
        ] as const)
      : []),
    ["Reference", claims.refCode],
    ["Paid", new Date(claims.settledAt).toLocaleString("en", { dateStyle: "long", timeStyle: "long" })],
    ["Network", claims.env === "live" ? "Arbitrum One" : "Base Sepolia (test)"],
    ["From", claims.payer],
    ["To", claims.receiver],
    ["Transaction", claims.transactionId],
    ["Issued by", claims.iss]
  ]
  list.replaceChildren(
    ...rows.map(([name, value]) => {
      const row = document.createElement("div")
      const [term, text] = [document.createElement("dt"), document.createElement("dd")]
      term.textContent = name
      text.textContent = value
      row.append(term, text)
      return row
    })
  )
}
