// `user create` and `user reset-password`: links that work once, for three days.

import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Email } from "../../domain/Email.ts"
import { Role } from "../../domain/Role.ts"
import { Accounts } from "../../merchants/accounts/Accounts.ts"
import { linkUrl } from "../../merchants/accounts/linkUrl.ts"
import { AuditLog, operator } from "../../merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../merchants/keys/KeyAuth.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, merchantId, print } from "./flags.ts"

const email = Flag.String("email").pipe(
  Flag.withDescription("The person's sign-in e-mail"),
  Flag.withSchema(Email)
)

const create = Command.make(
  "create",
  {
    email,
    merchant: merchantId,
    role: Flag.Literals("role", Role.literals).pipe(
      Flag.withDescription("What the person may do in the merchant"),
      Flag.withDefault("owner")
    ),
    operator: Flag.Boolean("operator").pipe(
      Flag.withDescription("Sees and acknowledges alerts that concern the whole service"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fn("user create")(function* (input) {
    const merchants = yield* (yield* KeyAuth).listMerchants
    const merchant = merchants.find(({ id }) => id === input.merchant)
    if (merchant === undefined) {
      return yield* new CommandFailed({
        message: `No merchant ${input.merchant}. List them: bun run cli merchant list`
      })
    }
    const { baseUrl } = yield* AppConfig
    const accounts = yield* Accounts
    const hasAccount = Option.isSome(yield* accounts.findUser(input.email))
    const summary = `invited ${input.email} as ${input.role.replace("_", "-")}${input.operator ? " and an operator of the service" : ""}`
    const token = yield* (yield* AuditLog).recording(
      merchant.id,
      operator,
      accounts.createLink({
        email: input.email,
        merchantId: merchant.id,
        role: input.role,
        resetPassword: false,
        operator: input.operator,
        invitedBy: null
      }),
      () => Option.some({ action: "member.invited", env: null, summary })
    )
    const link = linkUrl(baseUrl, token)
    yield* print(input.json, { email: input.email, link, hasAccount }, [
      `Hand this link to ${input.email}. It works once, within three days, and leads to ${merchant.name}, as ${input.role.replace("_", "-")}:`,
      link,
      ...(hasAccount
        ? [
            `${input.email} has an account, and the link asks for its password. Anybody may have signed up under that address: if it is not theirs, bun run cli user reset-password --email ${input.email}`
          ]
        : [])
    ])
  })
).pipe(
  Command.withDescription("Create a one-time link to join a merchant and set a password"),
  Command.withExamples([
    {
      command:
        "bun run cli user create --email ada@example.com --merchant 01a1fc34-7205-710e-9410-874fee9a4996",
      description: "Prints the link, once"
    }
  ])
)

const resetPassword = Command.make(
  "reset-password",
  { email, json },
  Effect.fn("user reset-password")(function* (input) {
    const { baseUrl } = yield* AppConfig
    const accounts = yield* Accounts
    if (Option.isNone(yield* accounts.findUser(input.email))) {
      return yield* new CommandFailed({
        message: `No user has the e-mail ${input.email}. Create one: bun run cli user create`
      })
    }
    const token = yield* accounts.createLink({
      email: input.email,
      merchantId: null,
      role: "owner",
      resetPassword: true,
      operator: false,
      invitedBy: null
    })
    const link = linkUrl(baseUrl, token)
    yield* print(input.json, { email: input.email, link }, [
      `Hand this link to ${input.email}. It works once, within three days; the old password works until then:`,
      link
    ])
  })
).pipe(Command.withDescription("Create a one-time link that resets a password and ends every session"))

const removeAuthenticator = Command.make(
  "remove-authenticator",
  { email, json },
  Effect.fn("user remove-authenticator")(function* (input) {
    const removed = yield* (yield* Accounts).removeAuthenticator(input.email)
    if (!removed) {
      return yield* new CommandFailed({
        message: `No user with the e-mail ${input.email} has an authenticator app. Nothing was changed.`
      })
    }
    yield* print(input.json, { email: input.email, removed }, [
      `${input.email} signs in without a code from now on, and can set up another app.`
    ])
  })
).pipe(
  Command.withDescription("Remove the authenticator app of a person who has lost it and the recovery codes")
)

export const user = Command.make("user").pipe(
  Command.withDescription("People who sign in to the dashboard"),
  Command.withSubcommands([create, resetPassword, removeAuthenticator])
)
