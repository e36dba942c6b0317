// `bun run probe`: hostile requests against a service of one's own, and a scorecard of what it
// did. Exit codes: 0 all held, 1 findings, 2 the command line is wrong or nothing could be sent.
import { BunRuntime, BunServices } from "@effect/platform-bun"
import { Cause, Console, Data, Effect, type Layer, Logger, Option, Schema } from "effect"
import { Argument, CliError, Command, Flag } from "effect/cli"
import type { Case } from "./Case.ts"
import { facilitatorCases } from "./facilitatorCases.ts"
import { httpCases } from "./httpCases.ts"
import { quittanceCases } from "./quittanceCases.ts"
import { runCases } from "./runCases.ts"
import { document, exitCodeOf, scorecard } from "./scorecard.ts"
import { isTemplate, webhookCases } from "./webhookCases.ts"

/** Nothing is sent, and `message` says why. */
class NotProbed extends Data.TaggedError("NotProbed")<{ readonly message: string }> {}

const HttpUrl = Schema.String.check(
  Schema.makeFilter((text) => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol)) return "an http or https URL"
    return url.username === "" && url.password === "" && url.hash === ""
      ? undefined
      : "a URL without user and fragment"
  })
)

const HeaderLine = Schema.String.check(
  Schema.isPattern(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n\0]*$/, {
    message: "a header such as 'authorization: Bearer …'"
  })
)

const Template = Schema.String.check(
  Schema.makeFilter((text) => isTemplate(text) || "JSON with {url} where the address goes")
)

const Address = Schema.String.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{40}$/, { message: "an address: 0x and 40 hex digits" })
)

const shared = {
  url: Argument.String("url").pipe(Argument.withDescription("Of the service"), Argument.withSchema(HttpUrl)),
  mine: Flag.Boolean("mine").pipe(
    Flag.withDescription("States that the service is yours, or that you may attack it"),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one JSON document for machines"),
    Flag.withDefault(false)
  )
}

const header = Flag.String("header").pipe(
  Flag.withDescription("Sent along, such as 'authorization: Bearer …'; repeat for more"),
  Flag.withSchema(HeaderLine),
  Flag.atLeast(0)
)

const pairOf = (line: string): readonly [string, string] => {
  const colon = line.indexOf(":")
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}

const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

interface Shared {
  readonly url: string
  readonly mine: boolean
  readonly json: boolean
}

const probe = Effect.fnUntraced(function* (
  { url, mine, json }: Shared,
  cases: Effect.Effect<ReadonlyArray<Case>, NotProbed>
) {
  if (!mine) {
    return yield* new NotProbed({
      message: "This attacks the address: say with --mine that the service is yours."
    })
  }
  const results = yield* runCases(yield* cases)
  yield* Console.log(json ? JSON.stringify(document(url, results)) : scorecard(results).join("\n"))
  yield* Effect.sync(() => {
    process.exitCode = exitCodeOf(results)
  })
})

const http = Command.make("http", { ...shared, header }, (input) => {
  const url = new URL(input.url)
  return probe(input, httpCases({ url, postUrl: url, headers: input.header.map(pairOf) }))
}).pipe(
  Command.withDescription("Request smuggling and malformed HTTP, at an address that answers GET with 200")
)

const facilitator = Command.make(
  "facilitator",
  {
    ...shared,
    key: optional("key", "Sent as a bearer token"),
    payTo: Flag.String("pay-to").pipe(
      Flag.withDescription("Whom the facilitator's merchant is paid at; a stranger by default"),
      Flag.withSchema(Address),
      Flag.optional
    ),
    payer: Flag.String("payer").pipe(
      Flag.withDescription(
        "A holder of test USDC: forged signatures name it, so that no balance refuses them"
      ),
      Flag.withSchema(Address),
      Flag.optional
    )
  },
  ({ key, payTo, payer, ...input }) =>
    probe(
      input,
      facilitatorCases({
        url: input.url,
        key: Option.getOrUndefined(key),
        payTo: Option.getOrUndefined(payTo),
        payer: Option.getOrUndefined(payer)
      })
    )
).pipe(Command.withDescription("Hostile x402 payments at <url>/verify and <url>/settle"))

const webhooks = Command.make(
  "webhooks",
  {
    ...shared,
    header,
    body: Flag.String("body").pipe(
      Flag.withDescription('JSON with {url} where the address goes, such as \'{"url":"{url}"}\''),
      Flag.withSchema(Template)
    ),
    method: Flag.Literals("method", ["POST", "PUT", "PATCH"]).pipe(Flag.withDefault("POST"))
  },
  ({ header: lines, body, method, ...input }) =>
    probe(
      input,
      webhookCases({
        url: input.url,
        method,
        body,
        headers: Object.fromEntries(lines.map(pairOf)),
        own: [],
        undo: undefined
      })
    )
).pipe(Command.withDescription("Hostile addresses at the registration of a webhook sender"))

const quittance = Command.make(
  "quittance",
  {
    ...shared,
    publishableKey: Flag.String("publishable-key").pipe(Flag.withDescription("pk_test_… or pk_live_…")),
    secretKey: optional("secret-key", "sk_…, of the same merchant and environment: for webhooks and x402")
  },
  ({ publishableKey, secretKey, ...input }) =>
    probe(
      input,
      Effect.flatMap(
        quittanceCases({ url: input.url, publishableKey, secretKey: Option.getOrUndefined(secretKey) }),
        (cases) =>
          typeof cases === "string"
            ? Effect.fail(new NotProbed({ message: `Not probed: ${cases}.` }))
            : Effect.succeed(cases)
      )
    )
).pipe(
  Command.withDescription(
    "All of it against a Quittance: tokens, keys, payment headers, webhooks, x402, HTTP"
  )
)

const root = Command.make("probe").pipe(
  Command.withDescription("Attack a service of your own, and read what it withstands"),
  Command.withSubcommands([http, facilitator, webhooks, quittance])
)

// Annotated: the installed typing of BunServices names a module that has moved.
const platform: Layer.Layer<Command.Environment> = BunServices.layer

const program: Effect.Effect<void> = Command.run(root, { version: "0.1.0" }).pipe(
  Effect.provide(platform),
  Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatSimple)])),
  Effect.catchCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.sync(() => process.exit(130))
    const error = Cause.squash(cause)
    // The parser has said already what is wrong with the command line.
    const told = CliError.isCliError(error)
      ? Effect.void
      : Console.error(error instanceof Error ? error.message : String(error))
    return Effect.andThen(
      told,
      Effect.sync(() => process.exit(2))
    )
  })
)

BunRuntime.runMain(program, { disableErrorReporting: true })
