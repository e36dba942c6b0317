// `trigger payment.settled`: a real payment on the local chain, over the service's own API.
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { AppConfig } from "../AppConfig.ts"
import { payIntent } from "../dev/payIntent.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, print } from "./flags.ts"

const key = (name: string, prefix: string) =>
  Flag.String(name).pipe(Flag.withDescription(`The merchant's key ${prefix}…, for the payment`))

const settled = Command.make(
  "payment.settled",
  {
    amount: Flag.String("amount").pipe(
      Flag.withDescription("Decimal USD, such as 10.00"),
      Flag.withDefault("10.00")
    ),
    secretKey: key("secret-key", "sk_test_"),
    publishableKey: key("publishable-key", "pk_test_"),
    json
  },
  Effect.fn("trigger payment.settled")(function* (input) {
    const { baseUrl } = yield* AppConfig
    const paid = yield* payIntent({
      ...input,
      baseUrl,
      onStep: (title, told) => (input.json ? Effect.void : Console.log(`${title.padEnd(16)}${told}`))
    }).pipe(Effect.mapError(({ message }) => new CommandFailed({ message })))
    yield* print(input.json, { payment: paid }, [
      `\n${paid.refCode} is settled; the webhook is on its way.`,
      `See it: ${baseUrl}/dashboard`
    ])
  })
).pipe(
  Command.withDescription("Create, open, pay and settle one payment; prints each step"),
  Command.withExamples([
    {
      command:
        "bun run cli trigger payment.settled --amount 10.00 --secret-key sk_test_… --publishable-key pk_test_…",
      description: "On the service at BASE_URL, which runs on `bun run chain`"
    }
  ])
)

export const trigger = Command.make("trigger").pipe(
  Command.withDescription("Create real events on the local chain"),
  Command.withSubcommands([settled])
)
