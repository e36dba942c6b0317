// English: the words of the pages of receipts, which every other language translates.

export const en = {
  receipt: "Receipt",
  titled: "Receipt {reference}",
  testPayment: "Test payment: no real money moved.",
  reading: "Reading the receipt…",
  unknown: "There is no receipt at this address.",
  broken: "The receipt’s signature does not hold.",
  unreadable: "The receipt cannot be read now. Reload the page.",
  holds: "Signed by {host}; the signature holds.",
  dropped: "The chain no longer shows this transfer: the merchant has not received it. Contact the merchant.",
  print: "Print",
  save: "Save the signed receipt",
  merchant: "Merchant",
  amount: "Amount",
  inUsdc: "{amount} in USDC",
  reference: "Reference",
  paid: "Paid",
  network: "Network",
  testNetwork: "{network} (test)",
  from: "From",
  to: "To",
  transaction: "Transaction",
  replacedBy: "Transaction in its place",
  refunded: "Refunded",
  refundedOn: "{amount} on {date}",
  issuedBy: "Issued by",
  verifyTitle: "Verify a receipt",
  verifyText:
    "Paste a signed receipt, or choose its file. It is checked on this page and sent nowhere. Saved, the page works without a network.",
  saveVerifier: "Save this page",
  signedReceipt: "Signed receipt",
  orFile: "Or its file",
  verify: "Verify",
  genuine: "Genuine: {merchant} was paid.",
  notGenuine: "Not a receipt of this service, or it was changed.",
  unknownKey:
    "Signed by a key that this page does not know. Try again with a network, or save the page anew.",
  byMail: "Send me this receipt by e-mail",
  byMailAbout: "The address is used for this receipt only.",
  send: "Send",
  sent: "On its way.",
  notSent: "It was not sent. Check the address, or try again later."
} as const

export type ReceiptMessages = { readonly [K in keyof typeof en]: string }
