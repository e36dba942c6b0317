import type { ReceiptMessages } from "./en.ts"

export const de: ReceiptMessages = {
  receipt: "Beleg",
  titled: "Beleg {reference}",
  testPayment: "Testzahlung: es floss kein echtes Geld.",
  reading: "Der Beleg wird gelesen…",
  unknown: "Unter dieser Adresse gibt es keinen Beleg.",
  broken: "Die Signatur des Belegs stimmt nicht.",
  unreadable: "Der Beleg kann jetzt nicht gelesen werden. Laden Sie die Seite neu.",
  holds: "Signiert von {host}; die Signatur stimmt.",
  print: "Drucken",
  save: "Signierten Beleg speichern",
  merchant: "Händler",
  amount: "Betrag",
  inUsdc: "{amount} in USDC",
  reference: "Referenz",
  paid: "Bezahlt",
  network: "Netzwerk",
  testNetwork: "{network} (Test)",
  from: "Von",
  to: "An",
  transaction: "Transaktion",
  issuedBy: "Ausgestellt von",
  verifyTitle: "Einen Beleg prüfen",
  verifyText:
    "Fügen Sie einen signierten Beleg ein oder wählen Sie seine Datei. Geprüft wird auf dieser Seite, ohne Netz: bewahren Sie die Seite auf, um später Belege zu prüfen.",
  signedReceipt: "Signierter Beleg",
  orFile: "Oder seine Datei",
  verify: "Prüfen",
  genuine: "Echt: {merchant} wurde bezahlt.",
  notGenuine: "Kein Beleg dieses Dienstes, oder er wurde verändert."
}
