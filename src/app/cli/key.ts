// `key list`, `key create`, `key rotate` and `key revoke`.
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type ApiKey, type Permission, Uuid } from "../../domain/Merchant.ts"
import { AuditLog, operator } from "../../merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { keyInWords } from "../../merchants/keys/keyInWords.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, json, merchantId, Name, print } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const keyId = Flag.String("key").pipe(
  Flag.withDescription("The key's id, from `key list`"),
  Flag.withSchema(Uuid)
)

const describe = (key: ApiKey) =>
  `${key.id}  ${key.prefix}…${key.lastFour}  ${keyInWords(key)}  ${key.revokedAt === null ? "active" : `revoked ${key.revokedAt.toISOString()}`}`

const list = Command.make(
  "list",
  { merchant: merchantId, json },
  Effect.fn("key list")(function* (input) {
    yield* requireMerchant(input.merchant)
    const keys = yield* (yield* KeyAuth).listKeys(input.merchant)
    yield* print(input.json, { keys }, keys.map(describe))
  })
).pipe(
  Command.withDescription("List a merchant's keys, without their secret parts"),
  Command.withExamples([
    {
      command: "bun run cli key list --merchant 01a1fc34-7205-710e-9410-874fee9a4996",
      description: "Lists a merchant's keys"
    }
  ])
)

const create = Command.make(
  "create",
  {
    merchant: merchantId,
    env,
    kind: Flag.Literals("kind", ["secret", "publishable"]).pipe(
      Flag.withDescription("secret, for your server, is the default; publishable is for the buyer's page"),
      Flag.withDefault("secret")
    ),
    readOnly: Flag.Boolean("read-only").pipe(
      Flag.withDescription("A secret key that can only read"),
      Flag.withDefault(false)
    ),
    name: Flag.String("name").pipe(
      Flag.withDescription("A label, such as the machine that uses the key; 1 to 100 characters"),
      Flag.withSchema(Name),
      Flag.optional
    ),
    json
  },
  Effect.fn("key create")(function* (input) {
    yield* requireMerchant(input.merchant)
    const permission: Permission = input.readOnly || input.kind === "publishable" ? "read" : "manage"
    const keys = yield* KeyAuth
    const terms = { kind: input.kind, env: input.env, permission, name: Option.getOrNull(input.name) }
    const issued = yield* (yield* AuditLog).recording(
      input.merchant,
      operator,
      keys.createKey(input.merchant, terms),
      () =>
        Option.some({
          action: "key.created",
          env: input.env,
          summary: `created a ${keyInWords(terms)}`,
          quiet: permission !== "manage"
        })
    )
    yield* print(input.json, { key: { id: issued.id, key: issued.key, env: input.env, permission } }, [
      `Created a ${keyInWords(terms)} (${input.env}), shown only once:`,
      issued.key
    ])
  })
).pipe(
  Command.withDescription("Create a key"),
  Command.withExamples([
    {
      command:
        "bun run cli key create --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test --name 'Shop server'",
      description: "Creates a secret key"
    }
  ])
)

const rotate = Command.make(
  "rotate",
  { merchant: merchantId, key: keyId, json },
  Effect.fn("key rotate")(function* (input) {
    const keys = yield* KeyAuth
    const issued = yield* (yield* AuditLog).recording(
      input.merchant,
      operator,
      keys.rotateKey(input.merchant, input.key),
      Option.map(() => ({
        action: "key.rotated" as const,
        env: null,
        summary: `rotated the key ${input.key}`
      }))
    )
    if (Option.isNone(issued)) {
      return yield* new CommandFailed({
        message: `This merchant has no active key ${input.key}. List its keys: bun run cli key list --merchant ${input.merchant}`
      })
    }
    yield* print(input.json, { key: { id: issued.value.id, key: issued.value.key }, revoked: input.key }, [
      `Rotated. The old key ${input.key} no longer works. The new key, shown only once:`,
      issued.value.key
    ])
  })
).pipe(
  Command.withDescription("Replace a key; the old one stops working immediately"),
  Command.withExamples([
    {
      command:
        "bun run cli key rotate --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --key 01a1fc34-7205-710e-9410-874fee9a4998",
      description: "Replaces a key"
    }
  ])
)

const revoke = Command.make(
  "revoke",
  { merchant: merchantId, key: keyId, json },
  Effect.fn("key revoke")(function* (input) {
    const keys = yield* KeyAuth
    const revoked = yield* (yield* AuditLog).recording(
      input.merchant,
      operator,
      keys.revokeKey(input.merchant, input.key),
      (isRevoked) =>
        isRevoked
          ? Option.some({
              action: "key.revoked",
              env: null,
              summary: `revoked the key ${input.key}`,
              quiet: true
            })
          : Option.none()
    )
    if (!revoked) {
      return yield* new CommandFailed({
        message: `This merchant has no active key ${input.key}. List its keys: bun run cli key list --merchant ${input.merchant}`
      })
    }
    yield* print(input.json, { revoked: input.key }, [`Revoked ${input.key}. It no longer works.`])
  })
).pipe(
  Command.withDescription("Revoke a key immediately"),
  Command.withExamples([
    {
      command:
        "bun run cli key revoke --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --key 01a1fc34-7205-710e-9410-874fee9a4998",
      description: "Revokes a key"
    }
  ])
)

export const key = Command.make("key").pipe(
  Command.withDescription("List, create, rotate and revoke API keys"),
  Command.withSubcommands([list, create, rotate, revoke])
)
