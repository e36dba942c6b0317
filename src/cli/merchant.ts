// `merchant create` and `merchant list`.
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { KeyAuth } from "../keys/KeyAuth.ts"
import { address, json, print } from "./flags.ts"

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(
      Flag.withDescription("The name that buyers see, 1 to 200 characters"),
      Flag.withSchema(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200)))
    ),
    receiver: address("receiver").pipe(
      Flag.withDescription(
        "Where buyers' USDC goes, on Testnet and, unless --receiver-live is given, on Mainnet"
      )
    ),
    receiverLive: address("receiver-live").pipe(
      Flag.withDescription("Another address for Mainnet"),
      Flag.optional
    ),
    json
  },
  Effect.fn("merchant create")(function* (input) {
    const keyAuth = yield* KeyAuth
    const { merchant, keys } = yield* keyAuth.createMerchant({
      name: input.name,
      receivers: { test: input.receiver, live: Option.getOrElse(input.receiverLive, () => input.receiver) }
    })
    yield* print(input.json, { merchant: { id: merchant.id, name: merchant.name }, keys }, [
      `Created merchant ${merchant.name} (${merchant.id}).`,
      `Receives on Testnet at ${merchant.receivers.test}, on Mainnet at ${merchant.receivers.live}.`,
      "",
      "Keys, shown this once:",
      `  test secret       ${keys.test.secret}`,
      `  test publishable  ${keys.test.publishable}`,
      `  live secret       ${keys.live.secret}`,
      `  live publishable  ${keys.live.publishable}`,
      "",
      "Next: register a webhook endpoint with POST /api/v1/webhook-endpoint and a secret key."
    ])
  })
).pipe(
  Command.withDescription("Create a merchant with its first keys"),
  Command.withExamples([
    {
      command:
        "bun run cli merchant create --name 'Demo Books' --receiver 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
      description: "A merchant that receives at one address on both networks"
    }
  ])
)

const list = Command.make(
  "list",
  { json },
  Effect.fn("merchant list")(function* (input) {
    const keyAuth = yield* KeyAuth
    const merchants = yield* keyAuth.listMerchants
    yield* print(
      input.json,
      { merchants: merchants.map(({ id, name, receivers }) => ({ id, name, receivers })) },
      merchants.length === 0
        ? ["No merchants yet. Create one: bun run cli merchant create --name … --receiver 0x…"]
        : merchants.map(({ id, name, receivers }) => `${id}  ${name}  ${receivers.test}`)
    )
  })
).pipe(Command.withDescription("List merchants"))

export const merchant = Command.make("merchant").pipe(
  Command.withDescription("Create and list merchants"),
  Command.withSubcommands([create, list])
)
