// `merchant create`, `merchant list` and `merchant update`.
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import type { Env } from "../../domain/Chain.ts"
import type { ReceiverTaken } from "../../domain/Errors.ts"
import { TokenLifetime } from "../../domain/Merchant.ts"
import { envs } from "../../domain/networks.ts"
import { AuditLog, operator } from "../../merchants/audit/AuditLog.ts"
import { firstChanges } from "../../merchants/audit/firstChanges.ts"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { MerchantRepo, type TokenRules } from "../../merchants/MerchantRepo.ts"
import { Receivers } from "../../merchants/Receivers.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { address, json, merchantId, print } from "./flags.ts"

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(
      Flag.withDescription("The name that buyers see, 1 to 200 characters"),
      Flag.withSchema(
        Schema.String.check(
          Schema.isMinLength(1, { message: "1 to 200 characters" }),
          Schema.isMaxLength(200, { message: "1 to 200 characters" })
        )
      )
    ),
    receiver: address("receiver").pipe(
      Flag.withDescription(
        "The address that receives buyers' USDC, on Mainnet too unless --receiver-live is set"
      )
    ),
    receiverLive: address("receiver-live").pipe(
      Flag.withDescription("A different receiving address on Mainnet"),
      Flag.optional
    ),
    json
  },
  Effect.fn("merchant create")(function* (input) {
    const keyAuth = yield* KeyAuth
    const creating = keyAuth.createMerchant({
      name: input.name,
      receivers: { test: input.receiver, live: Option.getOrElse(input.receiverLive, () => input.receiver) }
    })
    const { merchant, keys } = yield* (yield* AuditLog).recordingNew(operator, creating, firstChanges)
    yield* print(input.json, { merchant: { id: merchant.id, name: merchant.name }, keys }, [
      `Created merchant ${merchant.name} (${merchant.id}).`,
      `Receives on Testnet at ${merchant.receivers.test}, on Mainnet at ${merchant.receivers.live}.`,
      "",
      "Keys, shown only once:",
      ...envs.flatMap((env) => [
        `  ${env} secret       ${keys[env].secret}`,
        `  ${env} publishable  ${keys[env].publishable}`
      ]),
      "",
      `Next: create its owner's account: bun run cli user create --email … --merchant ${merchant.id}`,
      "The owner registers the webhook endpoint in the dashboard, or your server does, with POST /api/v1/webhook-endpoint and a secret key."
    ])
  })
).pipe(
  Command.withDescription("Create a merchant with its first keys"),
  Command.withExamples([
    {
      command:
        "bun run cli merchant create --name 'Demo Books' --receiver 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
      description: "Creates a merchant with one address on both networks"
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
        : merchants.map(
            ({ id, name, receivers }) => `${id}  ${name}  test ${receivers.test}  live ${receivers.live}`
          )
    )
  })
).pipe(
  Command.withDescription("List merchants"),
  Command.withExamples([{ command: "bun run cli merchant list", description: "Lists every merchant" }])
)

const optionalAddress = (name: string, description: string) =>
  address(name).pipe(Flag.withDescription(description), Flag.optional)

interface Changed {
  readonly env: Env
  readonly before: string
  readonly after: string
  readonly withdrawn?: string
}

/** The refusal for a terminal: completed changes, then the text that the address's owner may sign. */
const receiverTakenFailure = ({ message, details = [] }: ReceiverTaken, done: ReadonlyArray<Changed>) =>
  new CommandFailed({
    message: [
      ...done
        .filter(({ after, before }) => before !== after)
        .map(
          ({ after, before, env }) =>
            `The ${env} receiving address was changed from ${before} to ${after}. Nothing else was changed.`
        ),
      message,
      ...details.flatMap(({ message: advice, expected }) => [
        advice.replace("send the signature", "pass it as --signature"),
        ...(expected === undefined ? [] : ["", expected])
      ])
    ].join("\n")
  })

const update = Command.make(
  "update",
  {
    merchant: merchantId,
    receiverTest: optionalAddress("receiver-test", "The receiving address of new intents on Testnet"),
    receiverLive: optionalAddress("receiver-live", "The receiving address of new intents on Mainnet"),
    signature: Flag.String("signature").pipe(
      Flag.withDescription(
        "Takes over another merchant's address: the text in the error, signed with that address's key"
      ),
      Flag.withSchema(
        Schema.String.check(
          Schema.isPattern(/^0x(?:[0-9a-f]{2})+$/iu, { message: "a signature: 0x and hex digits" })
        )
      ),
      Flag.optional
    ),
    boundTokens: Flag.Boolean("bound-tokens").pipe(
      Flag.withDescription("Require buyers' tokens to name their payment"),
      Flag.optional
    ),
    tokenLifetime: Flag.Int("token-lifetime").pipe(
      Flag.withDescription("The maximum lifetime of a buyer's token in seconds, 60 to 31536000"),
      Flag.withSchema(TokenLifetime),
      Flag.optional
    ),
    json
  },
  Effect.fn("merchant update")(function* (input) {
    const repo = yield* MerchantRepo
    const receivers = yield* Receivers
    const requested = [
      ["test", input.receiverTest],
      ["live", input.receiverLive]
    ] as const
    const rules: TokenRules = {
      ...Option.match(input.boundTokens, {
        onNone: () => ({}),
        onSome: (boundTokensOnly) => ({ boundTokensOnly })
      }),
      ...Option.match(input.tokenLifetime, {
        onNone: () => ({}),
        onSome: (tokenLifetimeSeconds) => ({ tokenLifetimeSeconds })
      })
    }
    const changesRules = Object.keys(rules).length > 0
    if (requested.every(([, receiver]) => Option.isNone(receiver)) && !changesRules) {
      return yield* new CommandFailed({
        message:
          "Nothing to change. Pass --receiver-test, --receiver-live, --bound-tokens or --token-lifetime."
      })
    }
    const unknown = new CommandFailed({
      message: `No merchant ${input.merchant}. List them: bun run cli merchant list`
    })
    const changes: Array<Changed> = []
    for (const [env, receiver] of requested) {
      if (Option.isNone(receiver)) continue
      const changed = yield* receivers
        .change({ merchantId: input.merchant, env, address: receiver.value }, input.signature, operator)
        .pipe(
          Effect.catchTag("ReceiverTaken", (refusal) => Effect.fail(receiverTakenFailure(refusal, changes)))
        )
      if (Option.isNone(changed)) return yield* unknown
      const { after, before, withdrawn } = changed.value
      changes.push({
        ...{ env, before, after },
        ...Option.match(withdrawn, { onNone: () => ({}), onSome: (address) => ({ withdrawn: address }) })
      })
    }
    const tokens = changesRules ? yield* repo.updateTokenRules(input.merchant, rules) : Option.none()
    if (changesRules && Option.isNone(tokens)) return yield* unknown
    const shown = Option.match(tokens, { onNone: () => ({}), onSome: (tokens) => ({ tokens }) })
    yield* print(input.json, { merchant: { id: input.merchant }, receivers: changes, ...shown }, [
      ...changes.flatMap(({ env, before, after, withdrawn }) => [
        `Receiving address, ${env}:`,
        `  before  ${before}`,
        `  after   ${after}`,
        ...(withdrawn === undefined ? [] : [`  Withdrew the pending change to ${withdrawn}.`])
      ]),
      ...(changes.some(({ after, before }) => before !== after)
        ? ["New intents use the new address; existing intents and payments keep theirs."]
        : []),
      ...(changes.some(({ after, before, withdrawn }) => before !== after || withdrawn !== undefined)
        ? ["The merchant's members have been notified."]
        : []),
      ...Option.match(tokens, {
        onNone: () => [],
        onSome: ({ boundTokensOnly, tokenLifetimeSeconds }) => [
          `Buyers' tokens ${boundTokensOnly ? "must name their payment" : "may be for any payment"} and are valid for at most ${tokenLifetimeSeconds} s.`
        ]
      })
    ])
  })
).pipe(
  Command.withDescription("Change a merchant's receiving addresses and the rules for its buyers' tokens"),
  Command.withExamples([
    {
      command:
        "bun run cli merchant update --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --receiver-test 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
      description: "Changes the address for new intents on Testnet"
    }
  ])
)

export const merchant = Command.make("merchant").pipe(
  Command.withDescription("Create, list and update merchants"),
  Command.withSubcommands([create, list, update])
)
