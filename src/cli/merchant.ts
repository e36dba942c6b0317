// `merchant create` and `merchant list`.
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import type { Env } from "../domain/Chain.ts"
import { KeyAuth } from "../keys/KeyAuth.ts"
import { MerchantRepo } from "../keys/MerchantRepo.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { address, json, merchantId, print } from "./flags.ts"

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

const optionalAddress = (name: string, description: string) =>
  address(name).pipe(Flag.withDescription(description), Flag.optional)

const update = Command.make(
  "update",
  {
    merchant: merchantId,
    receiverTest: optionalAddress("receiver-test", "Where USDC goes on Testnet, in new intents"),
    receiverLive: optionalAddress("receiver-live", "Where USDC goes on Mainnet, in new intents"),
    json
  },
  Effect.fn("merchant update")(function* (input) {
    const repo = yield* MerchantRepo
    const wanted = [
      ["test", input.receiverTest],
      ["live", input.receiverLive]
    ] as const
    if (wanted.every(([, receiver]) => Option.isNone(receiver))) {
      return yield* new CommandFailed({
        message: "Nothing to change: give --receiver-test or --receiver-live."
      })
    }
    const changes: Array<{ readonly env: Env; readonly before: string; readonly after: string }> = []
    for (const [env, receiver] of wanted) {
      if (Option.isNone(receiver)) continue
      const changed = yield* repo.changeReceiver(input.merchant, env, receiver.value)
      if (Option.isNone(changed)) {
        return yield* new CommandFailed({
          message: `No merchant ${input.merchant}. List them: bun run cli merchant list`
        })
      }
      changes.push({ env, ...changed.value })
    }
    yield* print(input.json, { merchant: { id: input.merchant }, receivers: changes }, [
      ...changes.flatMap(({ env, before, after }) => [
        `Receiving address, ${env}:`,
        `  before  ${before}`,
        `  after   ${after}`
      ]),
      "New intents name the new address; intents and payments that exist keep theirs."
    ])
  })
).pipe(Command.withDescription("Change where a merchant's money goes; prints before and after"))

export const merchant = Command.make("merchant").pipe(
  Command.withDescription("Create, list and change merchants"),
  Command.withSubcommands([create, list, update])
)
