// `link list`, `link create` and `link close`: a merchant's payment links.
import { DateTime, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import type { Env } from "../../domain/Chain.ts"
import { UsdAmount } from "../../domain/Money.ts"
import { plusMillis } from "../../domain/plusMillis.ts"
import { NewLink } from "../../payments/links/Api.ts"
import { Links } from "../../payments/links/Links.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, json, merchantId, print } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const ownerOf = (id: string, environment: Env) =>
  Effect.map(requireMerchant(id), (merchant) => ({ merchant, env: environment }))

const failed = (error: {
  readonly message: string
  readonly details?: ReadonlyArray<{ readonly path: string; readonly message: string }> | undefined
}) =>
  new CommandFailed({
    message: error.details?.map(({ message, path }) => `${path}: ${message}`).join("; ") ?? error.message
  })

const optionalAmount = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(UsdAmount), Flag.optional)

/** Up to a hundred years. */
const Days = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 36_500 }, { message: "1 to 36500 days" })
)

const list = Command.make(
  "list",
  { merchant: merchantId, env, json },
  Effect.fn("link list")(function* (input) {
    const owner = yield* ownerOf(input.merchant, input.env)
    const all = yield* Links
    const links = [...(yield* all.list(owner)).links]
    for (let more = links.length > 0; more; ) {
      const page = yield* all.list(owner, { startingAfter: links.at(-1)?.id }).pipe(Effect.mapError(failed))
      links.push(...page.links)
      more = page.hasMore
    }
    yield* print(
      input.json,
      { links },
      links.length === 0
        ? ["No payment links yet. Create one: bun run cli link create"]
        : links.map(({ amount, description, maxAmount, minAmount, state, url }) =>
            [url, state, amount ?? `${minAmount} to ${maxAmount}`, description].join("  ")
          )
    )
  })
).pipe(
  Command.withDescription("List a merchant's payment links"),
  Command.withExamples([
    {
      command: "bun run cli link list --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test",
      description: "Lists a merchant's payment links"
    }
  ])
)

const create = Command.make(
  "create",
  {
    merchant: merchantId,
    env,
    description: Flag.String("description").pipe(
      Flag.withDescription("What the buyer pays for, 1 to 500 characters"),
      Flag.withSchema(NewLink.fields.description)
    ),
    amount: optionalAmount("amount", "A fixed amount in USD"),
    min: optionalAmount("min", "The minimum amount in USD"),
    max: optionalAmount("max", "The maximum amount in USD"),
    once: Flag.Boolean("once").pipe(Flag.withDescription("A single-use link"), Flag.withDefault(false)),
    days: Flag.Int("days").pipe(
      Flag.withDescription("Days until it expires"),
      Flag.withSchema(Days),
      Flag.optional
    ),
    json
  },
  Effect.fn("link create")(function* (input) {
    const owner = yield* ownerOf(input.merchant, input.env)
    const now = yield* DateTime.nowAsDate
    const expiresAt = Option.map(input.days, (days) => plusMillis(now, days * 86_400_000).toISOString())
    const link = yield* (yield* Links)
      .create(owner, {
        description: input.description,
        once: input.once,
        ...(Option.isSome(input.amount) ? { amount: input.amount.value } : {}),
        ...(Option.isSome(input.min) ? { minAmount: input.min.value } : {}),
        ...(Option.isSome(input.max) ? { maxAmount: input.max.value } : {}),
        ...(Option.isSome(expiresAt) ? { expiresAt: expiresAt.value } : {})
      })
      .pipe(Effect.mapError(failed))
    yield* print(input.json, { link }, [link.url, `Poster to print: ${link.posterUrl}`])
  })
).pipe(
  Command.withDescription("Create a payment link with --amount, or with --min and --max"),
  Command.withExamples([
    {
      command:
        "bun run cli link create --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test --amount 35.00 --description 'Signed print' --once",
      description: "Creates a link that one buyer can pay"
    }
  ])
)

const close = Command.make(
  "close",
  {
    merchant: merchantId,
    env,
    link: Flag.String("link").pipe(Flag.withDescription("The link's id, at the end of its URL")),
    json
  },
  Effect.fn("link close")(function* (input) {
    const owner = yield* ownerOf(input.merchant, input.env)
    yield* (yield* Links).close(owner, input.link).pipe(Effect.mapError(failed))
    yield* print(input.json, { closed: input.link }, ["Closed. Open payments continue."])
  })
).pipe(
  Command.withDescription("Close a payment link"),
  Command.withExamples([
    {
      command:
        "bun run cli link close --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test --link oLMFcD42GixfMtEzA_-iAXRT",
      description: "Closes a link"
    }
  ])
)

export const link = Command.make("link").pipe(
  Command.withDescription("List, create and close payment links"),
  Command.withSubcommands([list, create, close])
)
