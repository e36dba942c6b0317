import type { ReceiptMessages } from "./en.ts"

export const ar: ReceiptMessages = {
  receipt: "إيصال",
  titled: "إيصال {reference}",
  testPayment: "دفعة تجريبية: لم تُنقل أموال حقيقية.",
  reading: "جارٍ قراءة الإيصال…",
  unknown: "لا يوجد إيصال في هذا العنوان.",
  broken: "توقيع الإيصال غير صحيح.",
  unreadable: "تتعذّر قراءة الإيصال الآن. أعد تحميل الصفحة.",
  holds: "موقّع من {host}؛ التوقيع صحيح.",
  print: "طباعة",
  save: "احفظ الإيصال الموقّع",
  merchant: "التاجر",
  amount: "المبلغ",
  inUsdc: "{amount} بعملة USDC",
  reference: "المرجع",
  paid: "دُفع في",
  network: "الشبكة",
  testNetwork: "{network} (تجريبي)",
  from: "من",
  to: "إلى",
  transaction: "المعاملة",
  issuedBy: "صادر عن",
  verifyTitle: "تحقّق من إيصال",
  verifyText:
    "الصق إيصالًا موقّعًا أو اختر ملفه. يجري التحقق في هذه الصفحة بلا شبكة: احفظ الصفحة للتحقق من الإيصالات لاحقًا.",
  signedReceipt: "الإيصال الموقّع",
  orFile: "أو ملفه",
  verify: "تحقّق",
  genuine: "أصلي: دُفع إلى {merchant}.",
  notGenuine: "ليس إيصالًا من هذه الخدمة، أو جرى تغييره."
}
