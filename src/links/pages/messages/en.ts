// English: the words of the pages of payment links and the counter, which every other language translates.

export const en = {
  opening: "Opening the payment link…",
  amountLabel: "Amount in USD",
  continue: "Continue",
  choose: "You choose what you pay {merchant}.",
  bounds: "From {from} to {to}.",
  notAmount: "Enter an amount from {from} to {to}.",
  noThousands: "Enter the amount without thousands separators, such as 1000 or 9.50.",
  paid: "This payment link has been paid. Thank you.",
  expired: "This payment link has expired. Ask the merchant for a new one.",
  closed: "This payment link is closed. Ask the merchant for a new one.",
  unknown: "There is no payment link at this address.",
  unreachable: "The payment service cannot be reached. Try again.",
  testMode: "Test mode: no real money moves.",
  print: "Print",
  share: "Share",
  copied: "The link is copied.",
  qrLink: "QR code of the payment link",
  counter: "Counter",
  counterOf: "Counter, {merchant}",
  openCounter: "Open the counter from one of your payment links.",
  today: "Today on this device: {total} ({count})",
  keypad: "Number pad",
  delete: "Delete",
  decimalPoint: "Decimal point",
  charge: "Charge",
  waiting: "Waiting for the customer to scan and pay…",
  offline: "No connection. Whether the customer has paid shows once it is back.",
  cancel: "Cancel",
  salePaid: "{amount} paid",
  cancelledPaid: "A cancelled sale of {amount} has been paid after all. It counts in today’s total.",
  saleExpired: "The last payment expired. Nothing was charged.",
  next: "Next customer",
  qrSale: "QR code of the payment, for the customer"
} as const

export type LinkMessages = { readonly [K in keyof typeof en]: string }
