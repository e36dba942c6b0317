// Receipts by email, to buyers who enter an address: once per address, and a few per receipt.

import { createHash } from "node:crypto"
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { Locale } from "../../domain/Locale.ts"
import { isTest } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { Mails } from "../../platform/mail/Mails.ts"
import { fillPlaceholders, mailWords } from "../../platform/mail/mailWords.ts"
import { catalogues } from "./catalogues.ts"
import { ReceiptMailRepo } from "./ReceiptMails/ReceiptMailRepo.ts"
import type { SignedReceipt } from "./Receipts.ts"

/** The number of addresses that one receipt is sent to, because anyone with its link may request it. */
const maxAddresses = 3

export class ReceiptMails extends Context.Service<
  ReceiptMails,
  {
    /** False if the service sends no email. */
    readonly isOn: boolean
    /** Sends nothing twice to one address, and nothing beyond the third address. The response is always the same. */
    readonly send: (receipt: SignedReceipt, email: string, locale: Locale) => Effect.Effect<void>
  }
>()("quittance/payments/ReceiptMails") {
  static readonly layer: Layer.Layer<
    ReceiptMails,
    never,
    AppConfig | SqlClient.SqlClient | SecureRandom.SecureRandom
  > = Layer.effect(
    ReceiptMails,
    Effect.gen(function* () {
      const repo = yield* ReceiptMailRepo
      const mails = yield* Mails
      const { smtp } = yield* AppConfig
      const isOn = Option.isSome(smtp)
      return ReceiptMails.of({
        isOn,
        send: Effect.fn("ReceiptMails.send")(function* ({ receipt, url }, email, locale) {
          if (!isOn) return
          const words = mailWords[locale]
          const mark = isTest(receipt.env) ? " (test)" : ""
          const values = {
            merchant: `${receipt.merchant}${mark}`,
            amount: receipt.amount
          }
          yield* repo.ask(
            receipt.jti,
            createHash("sha256").update(email).digest(),
            maxAddresses,
            yield* DateTime.nowAsDate,
            mails.queue({
              recipient: email,
              subject: fillPlaceholders(words.receiptSubject, values),
              body: [
                ...(isTest(receipt.env) ? [catalogues[locale].testPayment, ""] : []),
                fillPlaceholders(words.receipt, values),
                url,
                "",
                words.receiptWhy
              ].join("\n")
            })
          )
        })
      })
    })
  ).pipe(Layer.provide([ReceiptMailRepo.layer, Mails.layer]))

  /** Sends nothing. */
  static readonly layerNone: Layer.Layer<ReceiptMails> = Layer.succeed(ReceiptMails, {
    isOn: false,
    send: () => Effect.void
  })
}
