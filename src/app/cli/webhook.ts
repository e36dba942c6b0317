// `webhook regenerate-secret`, `webhook reencrypt` and `webhook replay`.
import { DateTime, Effect, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { pluralised } from "../../domain/pluralised.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { ReplayRepo } from "../../webhooks/ReplayRepo.ts"
import { reencryptSecrets } from "../../webhooks/reencryptSecrets.ts"
import { regenerateSecret } from "../../webhooks/regenerateSecret.ts"
import type { LostSecrets } from "../../webhooks/SealedSecretRepo.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, json, merchantId, print } from "./flags.ts"
import { recreateSecrets } from "./recreateSecrets.ts"
import { requireMerchant } from "./requireMerchant.ts"

const regenerate = Command.make(
  "regenerate-secret",
  { merchant: merchantId, env, json },
  Effect.fn("webhook regenerate-secret")(function* (input) {
    const { endpoint, secret } = yield* regenerateSecret({ merchantId: input.merchant, env: input.env }).pipe(
      Effect.catchTag("WebhookEndpointNotFound", () =>
        Effect.fail(
          new CommandFailed({
            message: `The merchant has no ${input.env} webhook endpoint. Create one first.`
          })
        )
      )
    )
    yield* print(
      input.json,
      { endpoint: { id: endpoint.id, url: endpoint.url }, secret: Redacted.value(secret) },
      [
        `The endpoint ${endpoint.url} has a new secret, shown only once. The old secret no longer works:`,
        Redacted.value(secret)
      ]
    )
  })
).pipe(
  Command.withDescription("Regenerate an endpoint's signing secret"),
  Command.withExamples([
    {
      command:
        "bun run cli webhook regenerate-secret --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test",
      description: "Replaces a signing secret and prints the new one"
    }
  ])
)

const theKeys = (lost: ReadonlyArray<LostSecrets>) =>
  [...new Set(lost.map(({ kid }) => `the key \`${kid}\``))].join(" and ")

const reencrypt = Command.make(
  "reencrypt",
  { json },
  Effect.fn("webhook reencrypt")(function* (input) {
    const { count, kid, lost, retiredReceiptKeys } = yield* reencryptSecrets().pipe(
      // The defect's message says which key is missing, and contains no secret.
      Effect.catchDefect((defect) =>
        Effect.fail(
          new CommandFailed({
            message: defect instanceof Error ? defect.message : "A secret cannot be read."
          })
        )
      )
    )
    // Everything that can be re-encrypted is, before the command fails.
    if (lost.length > 0)
      return yield* new CommandFailed({
        message: [
          `${pluralised(count, "secret")} re-encrypted, but not all: ENCRYPTION_KEYS lacks ${theKeys(lost)}. Add it back and run this again. If it is lost, replace these secrets:`,
          ...lost.map(({ count, owner }) => `  ${count} ${recreateSecrets[owner]}`)
        ].join("\n")
      })
    yield* print(input.json, { count, kid, retiredReceiptKeys }, [
      `${pluralised(count, "secret")} re-encrypted; all use the key ${kid} now.`,
      ...(retiredReceiptKeys === 0
        ? []
        : [
            `${retiredReceiptKeys} of the keys that signed receipts are encrypted with a key that is missing from ENCRYPTION_KEYS. Their receipts can still be verified, and a newer key signs.`
          ])
    ])
  })
).pipe(
  Command.withDescription(
    "Re-encrypt every secret with the newest of ENCRYPTION_KEYS; the secrets do not change"
  ),
  Command.withExamples([
    {
      command: "bun run cli webhook reencrypt",
      description: "Encrypts every stored secret with the newest key"
    }
  ])
)

/** Up to a hundred years. */
const Hours = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 876_000 }, { message: "1 to 876000 hours" })
)

const replay = Command.make(
  "replay",
  {
    merchant: merchantId,
    env,
    hours: Flag.Int("hours").pipe(
      Flag.withDescription("How many hours back, by the time of the event; 24 by default"),
      Flag.withSchema(Hours),
      Flag.withDefault(24)
    ),
    json
  },
  Effect.fn("webhook replay")(function* (input) {
    yield* requireMerchant(input.merchant)
    const at = yield* DateTime.nowAsDate
    const since = plusMillis(at, -input.hours * 3_600_000)
    const tenant = { merchantId: input.merchant, env: input.env }
    const { replayFailed, replayUnsent } = yield* ReplayRepo
    const failed = yield* replayFailed(tenant, since, at)
    const unsent = yield* replayUnsent(tenant, since, at)
    yield* print(input.json, { count: failed + unsent, failed, unsent }, [
      `Queued for one more attempt: ${pluralised(failed, "failed delivery", "failed deliveries")} of the last ${pluralised(input.hours, "hour")}, with the same ids. Also queued: ${pluralised(unsent, "event")} of settled payments whose delivery had no endpoint or was cancelled.`
    ])
  })
).pipe(
  Command.withDescription("Resend failed deliveries, and send settled payments that were never sent"),
  Command.withExamples([
    {
      command:
        "bun run cli webhook replay --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test --hours 24",
      description: "Resends a day of failed deliveries"
    }
  ])
)

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Replace signing secrets, re-encrypt secrets and resend deliveries"),
  Command.withSubcommands([regenerate, reencrypt, replay])
)
