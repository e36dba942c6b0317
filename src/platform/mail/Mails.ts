// Outgoing email, if an SMTP server is configured. It is stored first and sent by a worker: an unavailable server
// delays it, and a crash loses none.
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { AppConfig } from "../AppConfig.ts"
import { type Mail, MailRepo } from "./MailRepo.ts"

export class Mails extends Context.Service<
  Mails,
  {
    /** Joins an open transaction. Does nothing if no server is configured. */
    readonly queue: (mail: Mail) => Effect.Effect<void>
  }
>()("quittance/platform/Mails") {
  static readonly layer: Layer.Layer<
    Mails,
    never,
    SqlClient.SqlClient | AppConfig | SecureRandom.SecureRandom
  > = Layer.effect(
    Mails,
    Effect.gen(function* () {
      const repo = yield* MailRepo
      const random = yield* SecureRandom.SecureRandom
      const { smtp } = yield* AppConfig
      return {
        queue: Effect.fn("Mails.queue")(function* (mail) {
          if (Option.isNone(smtp)) return
          yield* repo.insert(yield* random.uuidV7(), mail, yield* DateTime.nowAsDate)
        })
      }
    })
  ).pipe(Layer.provide(MailRepo.layer))
}
