import type { ReceiptMessages } from "./en.ts"

export const es: ReceiptMessages = {
  receipt: "Recibo",
  titled: "Recibo {reference}",
  testPayment: "Pago de prueba: no se movió dinero real.",
  reading: "Leyendo el recibo…",
  unknown: "No hay ningún recibo en esta dirección.",
  broken: "La firma del recibo no es válida.",
  unreadable: "El recibo no se puede leer ahora. Recarga la página.",
  holds: "Firmado por {host}; la firma es válida.",
  print: "Imprimir",
  save: "Guardar el recibo firmado",
  merchant: "Comercio",
  amount: "Importe",
  inUsdc: "{amount} en USDC",
  reference: "Referencia",
  paid: "Pagado",
  network: "Red",
  testNetwork: "{network} (prueba)",
  from: "De",
  to: "A",
  transaction: "Transacción",
  issuedBy: "Emitido por",
  verifyTitle: "Verificar un recibo",
  verifyText:
    "Pega un recibo firmado o elige su archivo. Se comprueba en esta página, sin red: guarda la página para comprobar recibos más tarde.",
  signedReceipt: "Recibo firmado",
  orFile: "O su archivo",
  verify: "Verificar",
  genuine: "Auténtico: se pagó a {merchant}.",
  notGenuine: "No es un recibo de este servicio, o fue modificado."
}
