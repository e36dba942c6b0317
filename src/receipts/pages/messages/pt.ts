import type { ReceiptMessages } from "./en.ts"

export const pt: ReceiptMessages = {
  receipt: "Recibo",
  titled: "Recibo {reference}",
  testPayment: "Pagamento de teste: nenhum dinheiro real foi movido.",
  reading: "Lendo o recibo…",
  unknown: "Não há recibo neste endereço.",
  broken: "A assinatura do recibo não é válida.",
  unreadable: "O recibo não pode ser lido agora. Recarregue a página.",
  holds: "Assinado por {host}; a assinatura é válida.",
  print: "Imprimir",
  save: "Salvar o recibo assinado",
  merchant: "Lojista",
  amount: "Valor",
  inUsdc: "{amount} em USDC",
  reference: "Referência",
  paid: "Pago em",
  network: "Rede",
  testNetwork: "{network} (teste)",
  from: "De",
  to: "Para",
  transaction: "Transação",
  issuedBy: "Emitido por",
  verifyTitle: "Verificar um recibo",
  verifyText:
    "Cole um recibo assinado ou escolha o arquivo. Ele é verificado nesta página, sem rede: guarde a página para verificar recibos depois.",
  signedReceipt: "Recibo assinado",
  orFile: "Ou o arquivo",
  verify: "Verificar",
  genuine: "Autêntico: {merchant} foi pago.",
  notGenuine: "Não é um recibo deste serviço, ou foi alterado."
}
