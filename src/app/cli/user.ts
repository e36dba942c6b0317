// `user create` and `user reset-password`, which create links that work once, and `user remove-authenticator`.

import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Email } from "../../domain/Email.ts"
import { Role } from "../../domain/Role.ts"
import { Accounts } from "../../merchants/accounts/Accounts.ts"
import { linkUrl } from "../../merchants/accounts/linkUrl.ts"
import { AuditLog, operator } from "../../merchants/audit/AuditLog.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, merchantId, print } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const email = Flag.String("email").pipe(
  Flag.withDescription("The user's sign-in email"),
  Flag.withSchema(Email)
)

const create = Command.make(
  "create",
  {
    email,
    merchant: merchantId,
    role: Flag.Literals("role", Role.literals).pipe(
      Flag.withDescription("The user's role at the merchant; owner by default"),
      Flag.withDefault("owner")
    ),
    operator: Flag.Boolean("operator").pipe(
      Flag.withDescription("Let the user acknowledge alerts about the whole service, and see their details"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fn("user create")(function* (input) {
    const merchant = yield* requireMerchant(input.merchant)
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
      `Send this link to ${input.email}. It works once, within three days, and gives access to ${merchant.name} as ${input.role.replace("_", "-")}:`,
      link,
      ...(hasAccount
        ? [
            `${input.email} already has an account, so the link requires its password. If somebody else signed up under that address, run: bun run cli user reset-password --email ${input.email}`
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
      description: "Prints the link"
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
        message: `No user has the email ${input.email}. Create one: bun run cli user create`
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
    yield* (yield* AuditLog).note(operator, {
      action: "member.reset_link_created",
      env: null,
      summary: `created a link that resets the password of ${input.email}`
    })
    const link = linkUrl(baseUrl, token)
    yield* print(input.json, { email: input.email, link }, [
      `Send this link to ${input.email}. It works once, within three days. The old password works until the link is used:`,
      link
    ])
  })
).pipe(
  Command.withDescription("Create a one-time link that resets a password and ends every session"),
  Command.withExamples([
    {
      command: "bun run cli user reset-password --email ada@example.com",
      description: "Prints a link that sets a new password"
    }
  ])
)

const removeAuthenticator = Command.make(
  "remove-authenticator",
  { email, json },
  Effect.fn("user remove-authenticator")(function* (input) {
    const removed = yield* (yield* Accounts).removeAuthenticator(input.email)
    if (!removed) {
      return yield* new CommandFailed({
        message: `No user with the email ${input.email} has an authenticator app. Nothing was changed.`
      })
    }
    yield* (yield* AuditLog).note(operator, {
      action: "member.authenticator_removed",
      env: null,
      summary: `removed the authenticator app of ${input.email}`
    })
    yield* print(input.json, { email: input.email, removed }, [
      `${input.email} now signs in without a code, and can set up another app.`
    ])
  })
).pipe(
  Command.withDescription("Remove the authenticator app of a user who lost the app and the recovery codes"),
  Command.withExamples([
    {
      command: "bun run cli user remove-authenticator --email ada@example.com",
      description: "Lets a user sign in without the lost app"
    }
  ])
)

export const user = Command.make("user").pipe(
  Command.withDescription("Manage the users of the dashboard"),
  Command.withSubcommands([create, resetPassword, removeAuthenticator])
)
