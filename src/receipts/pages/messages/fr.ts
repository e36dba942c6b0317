import type { ReceiptMessages } from "./en.ts"

export const fr: ReceiptMessages = {
  receipt: "Reçu",
  titled: "Reçu {reference}",
  testPayment: "Paiement de test : aucun argent réel n’a circulé.",
  reading: "Lecture du reçu…",
  unknown: "Il n’y a pas de reçu à cette adresse.",
  broken: "La signature du reçu n’est pas valable.",
  unreadable: "Le reçu ne peut pas être lu. Rechargez la page.",
  holds: "Signé par {host} ; la signature est valable.",
  print: "Imprimer",
  save: "Enregistrer le reçu signé",
  merchant: "Marchand",
  amount: "Montant",
  inUsdc: "{amount} en USDC",
  reference: "Référence",
  paid: "Payé",
  network: "Réseau",
  testNetwork: "{network} (test)",
  from: "De",
  to: "À",
  transaction: "Transaction",
  issuedBy: "Émis par",
  verifyTitle: "Vérifier un reçu",
  verifyText:
    "Collez un reçu signé ou choisissez son fichier. Il est vérifié sur cette page, sans réseau : conservez la page pour vérifier des reçus plus tard.",
  signedReceipt: "Reçu signé",
  orFile: "Ou son fichier",
  verify: "Vérifier",
  genuine: "Authentique : {merchant} a été payé.",
  notGenuine: "Ce n’est pas un reçu de ce service, ou il a été modifié."
}
