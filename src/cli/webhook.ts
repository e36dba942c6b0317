// `webhook regenerate-secret`.
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { regenerateSecret } from "../webhooks/regenerateSecret.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, json, merchantId, print } from "./flags.ts"

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
        `The endpoint ${endpoint.url} has a new secret; the old one stops verifying now. Shown this once:`,
        Redacted.value(secret)
      ]
    )
  })
).pipe(Command.withDescription("Give an endpoint a new signing secret"))

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Webhook endpoints"),
  Command.withSubcommands([regenerate])
)
