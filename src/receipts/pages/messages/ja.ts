import type { ReceiptMessages } from "./en.ts"

export const ja: ReceiptMessages = {
  receipt: "領収書",
  titled: "領収書 {reference}",
  testPayment: "テスト支払い：実際のお金は動いていません。",
  reading: "領収書を読み込んでいます…",
  unknown: "このアドレスに領収書はありません。",
  broken: "領収書の署名が正しくありません。",
  unreadable: "領収書を読み込めません。ページを再読み込みしてください。",
  holds: "{host} が署名しています。署名は正しいです。",
  print: "印刷",
  save: "署名付き領収書を保存",
  merchant: "お店",
  amount: "金額",
  inUsdc: "USDC で {amount}",
  reference: "参照番号",
  paid: "支払日時",
  network: "ネットワーク",
  testNetwork: "{network}（テスト）",
  from: "支払元",
  to: "受取先",
  transaction: "トランザクション",
  issuedBy: "発行元",
  verifyTitle: "領収書を確認する",
  verifyText:
    "署名付き領収書を貼り付けるか、ファイルを選んでください。確認はこのページ内で、通信なしで行われます。ページを保存すれば後でも確認できます。",
  signedReceipt: "署名付き領収書",
  orFile: "またはファイル",
  verify: "確認する",
  genuine: "本物です：{merchant} に支払われました。",
  notGenuine: "このサービスの領収書ではないか、改変されています。"
}
