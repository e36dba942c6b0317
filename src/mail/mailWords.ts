// What mails say, in the languages of the checkout. `{name}` stands for a value.
import type { Locale } from "../domain/Locale.ts"

const english = {
  alertSubject: "{merchant}: something needs your attention",
  choose: "You choose what you are told about in the dashboard, under Settings:",
  invitationSubject: "{inviter} invites you to {merchant}",
  invitation: "{inviter} invites you to {merchant} on Quittance. This link works once, within three days:",
  resetSubject: "Set a new password",
  reset: "Somebody has asked for a new password for your account. If it was you, set it here within an hour:",
  ignore: "If it was not you, nothing has changed, and you can ignore this.",
  weeklySubject: "{merchant}: your week",
  weekly: "From {from} to {to}:",
  settled: "Settled: {volume} USD in {count} payments",
  refunded: "Refunded: {volume} USD in {count} refunds",
  openAlerts: "To look at: {count}",
  receiptSubject: "Your receipt from {merchant}",
  receipt: "You have paid {amount} USD to {merchant}. Your receipt:",
  receiptWhy: "You asked for it at the checkout. Your address is used for nothing else.",
  changeSubject: "{action}",
  changeAt: "At {at}, for a merchant that you are a member of.",
  changeNotYou: "If none of you did this: change your password, sign out everywhere, and withdraw it.",
  securityOf: "Of your account {email}: {what}.",
  passkeyAdded: "the passkey “{name}” was added",
  passkeyRemoved: "a passkey was removed",
  passkeysEnded: "the new password has removed your passkeys: add them again",
  authenticatorAdded: "an authenticator app was added",
  authenticatorRemoved: "the authenticator app was removed",
  codesRenewed: "the recovery codes were renewed",
  securityNotYou:
    "If it was not you: under Settings, change your password, remove passkeys that are not yours, and end every other session.",
  operatorRemoved:
    "The operator has removed the authenticator app of your account {email}. Ask the operator if you did not want it."
}
export type MailWords = Readonly<Record<keyof typeof english, string>>

export const mailWords: Readonly<Record<Locale, MailWords>> = {
  en: english,
  de: {
    alertSubject: "{merchant}: Bitte ansehen",
    choose: "Worüber Sie benachrichtigt werden, bestimmen Sie im Dashboard unter Settings:",
    invitationSubject: "{inviter} lädt Sie zu {merchant} ein",
    invitation:
      "{inviter} lädt Sie zu {merchant} auf Quittance ein. Dieser Link gilt einmal, drei Tage lang:",
    resetSubject: "Neues Passwort festlegen",
    reset:
      "Jemand hat ein neues Passwort für Ihr Konto angefordert. Wenn Sie das waren, legen Sie es hier innerhalb einer Stunde fest:",
    ignore: "Wenn Sie es nicht waren, hat sich nichts geändert, und Sie können diese Nachricht ignorieren.",
    weeklySubject: "{merchant}: Ihre Woche",
    weekly: "Vom {from} bis {to}:",
    settled: "Eingegangen: {volume} USD in {count} Zahlungen",
    refunded: "Erstattet: {volume} USD in {count} Erstattungen",
    openAlerts: "Noch anzusehen: {count}",
    receiptSubject: "Ihr Beleg von {merchant}",
    receipt: "Sie haben {amount} USD an {merchant} gezahlt. Ihr Beleg:",
    receiptWhy: "Sie haben ihn beim Bezahlen angefordert. Ihre Adresse wird für nichts anderes verwendet.",
    changeSubject: "Änderung: {action}",
    changeAt: "Am {at}, bei einem Händler, dem Sie angehören.",
    changeNotYou:
      "Wenn das niemand von Ihnen war: Ändern Sie Ihr Passwort, melden Sie sich überall ab und nehmen Sie es zurück.",
    securityOf: "Zu Ihrem Konto {email}: {what}.",
    passkeyAdded: "der Passkey „{name}“ wurde hinzugefügt",
    passkeyRemoved: "ein Passkey wurde entfernt",
    passkeysEnded: "das neue Passwort hat Ihre Passkeys entfernt: Fügen Sie sie neu hinzu",
    authenticatorAdded: "eine Authenticator-App wurde hinzugefügt",
    authenticatorRemoved: "die Authenticator-App wurde entfernt",
    codesRenewed: "die Wiederherstellungscodes wurden erneuert",
    securityNotYou:
      "Wenn Sie es nicht waren: Ändern Sie unter Settings Ihr Passwort, entfernen Sie Passkeys, die nicht Ihre sind, und beenden Sie alle anderen Sitzungen.",
    operatorRemoved:
      "Der Betreiber hat die Authenticator-App Ihres Kontos {email} entfernt. Fragen Sie ihn, wenn Sie das nicht wollten."
  },
  es: {
    alertSubject: "{merchant}: algo requiere su atención",
    choose: "Usted decide qué avisos recibe en el panel, en Settings:",
    invitationSubject: "{inviter} le invita a {merchant}",
    invitation:
      "{inviter} le invita a {merchant} en Quittance. Este enlace sirve una sola vez, durante tres días:",
    resetSubject: "Establezca una contraseña nueva",
    reset:
      "Alguien ha pedido una contraseña nueva para su cuenta. Si ha sido usted, establézcala aquí en el plazo de una hora:",
    ignore: "Si no ha sido usted, nada ha cambiado y puede ignorar este mensaje.",
    weeklySubject: "{merchant}: su semana",
    weekly: "Del {from} al {to}:",
    settled: "Cobrado: {volume} USD en {count} pagos",
    refunded: "Reembolsado: {volume} USD en {count} reembolsos",
    openAlerts: "Por revisar: {count}",
    receiptSubject: "Su recibo de {merchant}",
    receipt: "Ha pagado {amount} USD a {merchant}. Su recibo:",
    receiptWhy: "Lo pidió al pagar. Su dirección no se usa para nada más.",
    changeSubject: "Cambio: {action}",
    changeAt: "El {at}, en un comercio al que usted pertenece.",
    changeNotYou:
      "Si no ha sido ninguno de ustedes: cambie su contraseña, cierre todas las sesiones y anúlelo.",
    securityOf: "Sobre su cuenta {email}: {what}.",
    passkeyAdded: "se ha añadido la llave de acceso «{name}»",
    passkeyRemoved: "se ha eliminado una llave de acceso",
    passkeysEnded: "la contraseña nueva ha eliminado sus llaves de acceso: añádalas de nuevo",
    authenticatorAdded: "se ha añadido una aplicación de autenticación",
    authenticatorRemoved: "se ha eliminado la aplicación de autenticación",
    codesRenewed: "se han renovado los códigos de recuperación",
    securityNotYou:
      "Si no ha sido usted: en Settings, cambie su contraseña, elimine las llaves de acceso que no sean suyas y cierre todas las demás sesiones.",
    operatorRemoved:
      "El operador ha eliminado la aplicación de autenticación de su cuenta {email}. Pregúntele si usted no lo quería."
  },
  fr: {
    alertSubject: "{merchant} : un point demande votre attention",
    choose: "Vous choisissez vos notifications dans le tableau de bord, sous Settings :",
    invitationSubject: "{inviter} vous invite chez {merchant}",
    invitation:
      "{inviter} vous invite chez {merchant} sur Quittance. Ce lien fonctionne une seule fois, pendant trois jours :",
    resetSubject: "Définissez un nouveau mot de passe",
    reset:
      "Quelqu’un a demandé un nouveau mot de passe pour votre compte. Si c’était vous, définissez-le ici dans l’heure :",
    ignore: "Si ce n’était pas vous, rien n’a changé et vous pouvez ignorer ce message.",
    weeklySubject: "{merchant} : votre semaine",
    weekly: "Du {from} au {to} :",
    settled: "Encaissé : {volume} USD en {count} paiements",
    refunded: "Remboursé : {volume} USD en {count} remboursements",
    openAlerts: "À examiner : {count}",
    receiptSubject: "Votre reçu de {merchant}",
    receipt: "Vous avez payé {amount} USD à {merchant}. Votre reçu :",
    receiptWhy: "Vous l’avez demandé lors du paiement. Votre adresse ne sert à rien d’autre.",
    changeSubject: "Modification : {action}",
    changeAt: "Le {at}, chez un marchand dont vous êtes membre.",
    changeNotYou:
      "Si ce n’était aucun de vous : changez votre mot de passe, déconnectez-vous partout et annulez-la.",
    securityOf: "Au sujet de votre compte {email} : {what}.",
    passkeyAdded: "la clé d’accès « {name} » a été ajoutée",
    passkeyRemoved: "une clé d’accès a été supprimée",
    passkeysEnded: "le nouveau mot de passe a supprimé vos clés d’accès : ajoutez-les de nouveau",
    authenticatorAdded: "une application d’authentification a été ajoutée",
    authenticatorRemoved: "l’application d’authentification a été supprimée",
    codesRenewed: "les codes de récupération ont été renouvelés",
    securityNotYou:
      "Si ce n’était pas vous : sous Settings, changez votre mot de passe, supprimez les clés d’accès qui ne sont pas les vôtres et fermez toutes les autres sessions.",
    operatorRemoved:
      "L’opérateur a supprimé l’application d’authentification de votre compte {email}. Demandez-lui si vous ne le souhaitiez pas."
  },
  pt: {
    alertSubject: "{merchant}: algo precisa da sua atenção",
    choose: "Você escolhe os avisos que recebe no painel, em Settings:",
    invitationSubject: "{inviter} convida você para {merchant}",
    invitation:
      "{inviter} convida você para {merchant} no Quittance. Este link funciona uma única vez, durante três dias:",
    resetSubject: "Defina uma nova senha",
    reset: "Alguém pediu uma nova senha para a sua conta. Se foi você, defina-a aqui no prazo de uma hora:",
    ignore: "Se não foi você, nada mudou e você pode ignorar esta mensagem.",
    weeklySubject: "{merchant}: a sua semana",
    weekly: "De {from} a {to}:",
    settled: "Recebido: {volume} USD em {count} pagamentos",
    refunded: "Reembolsado: {volume} USD em {count} reembolsos",
    openAlerts: "Para verificar: {count}",
    receiptSubject: "O seu recibo de {merchant}",
    receipt: "Você pagou {amount} USD a {merchant}. O seu recibo:",
    receiptWhy: "Você o pediu no pagamento. O seu endereço não é usado para mais nada.",
    changeSubject: "Alteração: {action}",
    changeAt: "Em {at}, num comerciante do qual você é membro.",
    changeNotYou: "Se não foi nenhum de vocês: mude a sua senha, saia de todas as sessões e desfaça-a.",
    securityOf: "Sobre a sua conta {email}: {what}.",
    passkeyAdded: "a chave de acesso “{name}” foi adicionada",
    passkeyRemoved: "uma chave de acesso foi removida",
    passkeysEnded: "a nova senha removeu as suas chaves de acesso: adicione-as de novo",
    authenticatorAdded: "um aplicativo autenticador foi adicionado",
    authenticatorRemoved: "o aplicativo autenticador foi removido",
    codesRenewed: "os códigos de recuperação foram renovados",
    securityNotYou:
      "Se não foi você: em Settings, mude a sua senha, remova as chaves de acesso que não são suas e encerre todas as outras sessões.",
    operatorRemoved:
      "O operador removeu o aplicativo autenticador da sua conta {email}. Pergunte a ele se você não queria isso."
  },
  ja: {
    alertSubject: "{merchant}：確認が必要です",
    choose: "受け取る通知はダッシュボードの Settings で選べます：",
    invitationSubject: "{inviter} さんから {merchant} への招待",
    invitation:
      "{inviter} さんが Quittance の {merchant} にあなたを招待しています。このリンクは三日以内に一度だけ使えます：",
    resetSubject: "新しいパスワードの設定",
    reset:
      "あなたのアカウントの新しいパスワードが要求されました。ご本人の場合は、一時間以内にこちらで設定してください：",
    ignore: "お心当たりがない場合、何も変更されていません。このメールは無視してください。",
    weeklySubject: "{merchant}：今週のまとめ",
    weekly: "{from} から {to} まで：",
    settled: "入金：{volume} USD（{count} 件）",
    refunded: "返金：{volume} USD（{count} 件）",
    openAlerts: "確認待ち：{count} 件",
    receiptSubject: "{merchant} からの領収書",
    receipt: "{merchant} に {amount} USD をお支払いいただきました。領収書：",
    receiptWhy: "お支払い時にご希望いただいたものです。メールアドレスはほかの目的に使われません。",
    changeSubject: "変更：{action}",
    changeAt: "{at}、あなたが所属する加盟店で行われました。",
    changeNotYou:
      "どなたにも心当たりがない場合は、パスワードを変更し、すべての端末からログアウトして、この変更を取り消してください。",
    securityOf: "アカウント {email}：{what}。",
    passkeyAdded: "パスキー「{name}」が追加されました",
    passkeyRemoved: "パスキーが削除されました",
    passkeysEnded: "新しいパスワードの設定により、パスキーが削除されました。もう一度追加してください",
    authenticatorAdded: "認証アプリが追加されました",
    authenticatorRemoved: "認証アプリが削除されました",
    codesRenewed: "リカバリーコードが更新されました",
    securityNotYou:
      "お心当たりがない場合は、Settings でパスワードを変更し、ご自身のものでないパスキーを削除して、ほかのセッションをすべて終了してください。",
    operatorRemoved:
      "運営者があなたのアカウント {email} の認証アプリを削除しました。ご希望でない場合は運営者にお尋ねください。"
  },
  zh: {
    alertSubject: "{merchant}：有事项需要您处理",
    choose: "您可以在控制台的 Settings 中选择接收哪些通知：",
    invitationSubject: "{inviter} 邀请您加入 {merchant}",
    invitation: "{inviter} 邀请您加入 Quittance 上的 {merchant}。此链接三天内有效，只能使用一次：",
    resetSubject: "设置新密码",
    reset: "有人为您的账户申请了新密码。如果是您本人，请在一小时内在此设置：",
    ignore: "如果不是您本人，账户没有任何变化，请忽略此邮件。",
    weeklySubject: "{merchant}：本周小结",
    weekly: "{from} 至 {to}：",
    settled: "已收款：{volume} USD，共 {count} 笔",
    refunded: "已退款：{volume} USD，共 {count} 笔",
    openAlerts: "待处理：{count}",
    receiptSubject: "{merchant} 的收据",
    receipt: "您已向 {merchant} 支付 {amount} USD。您的收据：",
    receiptWhy: "这是您在付款时要求的。您的邮箱地址不会用于其他用途。",
    changeSubject: "变更：{action}",
    changeAt: "时间 {at}，发生在您所属的商户。",
    changeNotYou: "如果不是你们中的任何人所为：请更改密码、退出所有设备并撤销该变更。",
    securityOf: "关于您的账户 {email}：{what}。",
    passkeyAdded: "已添加通行密钥“{name}”",
    passkeyRemoved: "已移除一个通行密钥",
    passkeysEnded: "设置新密码后，您的通行密钥已被移除，请重新添加",
    authenticatorAdded: "已添加身份验证器应用",
    authenticatorRemoved: "已移除身份验证器应用",
    codesRenewed: "恢复代码已更新",
    securityNotYou: "如果不是您本人：请在 Settings 中更改密码、移除不属于您的通行密钥并结束所有其他会话。",
    operatorRemoved: "运营者已移除您的账户 {email} 的身份验证器应用。如果这不是您的意愿，请联系运营者。"
  },
  ar: {
    alertSubject: "{merchant}: أمر يحتاج إلى انتباهك",
    choose: "يمكنك اختيار ما تُبلَّغ به في لوحة التحكم، ضمن Settings:",
    invitationSubject: "دعوة من {inviter} إلى {merchant}",
    invitation: "يدعوك {inviter} إلى {merchant} على Quittance. يعمل هذا الرابط مرة واحدة خلال ثلاثة أيام:",
    resetSubject: "تعيين كلمة مرور جديدة",
    reset: "طلب أحدهم كلمة مرور جديدة لحسابك. إن كنت أنت، فعيّنها هنا خلال ساعة:",
    ignore: "إن لم تكن أنت، فلم يتغير شيء، ويمكنك تجاهل هذه الرسالة.",
    weeklySubject: "{merchant}: أسبوعك",
    weekly: "من {from} إلى {to}:",
    settled: "المحصَّل: {volume} USD في {count} مدفوعات",
    refunded: "المُعاد: {volume} USD في {count} عمليات استرداد",
    openAlerts: "بانتظار المراجعة: {count}",
    receiptSubject: "إيصالك من {merchant}",
    receipt: "لقد دفعت {amount} USD إلى {merchant}. إيصالك:",
    receiptWhy: "طلبته عند الدفع. لا يُستخدم عنوانك لأي غرض آخر.",
    changeSubject: "تغيير: {action}",
    changeAt: "في {at}، لدى متجر أنت عضو فيه.",
    changeNotYou: "إن لم يفعل ذلك أحد منكم: غيّر كلمة مرورك، وسجّل الخروج من كل الأجهزة، وتراجع عن التغيير.",
    securityOf: "بشأن حسابك {email}: {what}.",
    passkeyAdded: "أُضيف مفتاح المرور «{name}»",
    passkeyRemoved: "أُزيل مفتاح مرور",
    passkeysEnded: "أزالت كلمة المرور الجديدة مفاتيح المرور الخاصة بك: أضفها من جديد",
    authenticatorAdded: "أُضيف تطبيق مصادقة",
    authenticatorRemoved: "أُزيل تطبيق المصادقة",
    codesRenewed: "جُدّدت رموز الاسترداد",
    securityNotYou:
      "إن لم تكن أنت: ضمن Settings، غيّر كلمة مرورك، وأزل مفاتيح المرور التي ليست لك، وأنهِ كل الجلسات الأخرى.",
    operatorRemoved: "أزال المشغّل تطبيق المصادقة من حسابك {email}. اسأله إن لم ترغب في ذلك."
  }
}

/** The words with their values; a value never stands for another. */
export const filled = (words: string, values: Readonly<Record<string, string>>): string =>
  words.replace(/\{(\w+)\}/gu, (whole, name: string) => values[name] ?? whole)
