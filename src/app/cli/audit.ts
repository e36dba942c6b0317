// `audit list` and `audit verify`: who changed where money goes, and whether the log is what was written.
import { Effect, Option, Schema, SchemaGetter } from "effect"
import { Command, Flag } from "effect/cli"
import { AuditRepo } from "../../merchants/audit/AuditRepo.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, merchantId, print } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const shown = 100

const list = Command.make(
  "list",
  {
    merchant: merchantId.pipe(Flag.optional),
    before: Flag.Int("before").pipe(
      Flag.withDescription("Entries before this position; by default the newest"),
      Flag.optional
    ),
    json
  },
  Effect.fn("audit list")(function* (input) {
    if (Option.isSome(input.merchant)) yield* requireMerchant(input.merchant.value)
    const entries = yield* (yield* AuditRepo).list(Option.getOrNull(input.merchant), {
      limit: shown,
      ...Option.match(input.before, { onNone: () => ({}), onSome: (before) => ({ before }) })
    })
    const last = entries.at(-1)
    const ofMerchant = Option.match(input.merchant, { onNone: () => "", onSome: (id) => ` --merchant ${id}` })
    yield* print(input.json, { entries }, [
      ...(entries.length === 0 ? ["No changes of addresses, keys or members are written down."] : []),
      ...entries.map(
        ({ actor, at, env, merchantId: of, position, summary }) =>
          `${position}  ${at.toISOString()}  ${env ?? "both"}  ${of ?? "the service"}  ${actor} ${summary}`
      ),
      ...(last !== undefined && entries.length === shown
        ? [`Earlier entries: bun run cli audit list${ofMerchant} --before ${last.position}`]
        : [])
    ])
  })
).pipe(
  Command.withDescription("List changes of receiving addresses, keys and members, newest first"),
  Command.withExamples([
    { command: "bun run cli audit list", description: "Lists the newest changes of every merchant" }
  ])
)

const Head = Schema.String.check(
  Schema.isPattern(/^[1-9]\d{0,14}:[0-9a-f]{64}$/, {
    message: "the line that an earlier `audit verify` printed: a position, a colon and 64 hex digits"
  })
).pipe(
  Schema.decodeTo(Schema.Struct({ position: Schema.Int, hash: Schema.String }), {
    decode: SchemaGetter.transform((text) => {
      const [position = "", hash = ""] = text.split(":")
      return { position: Number(position), hash }
    }),
    encode: SchemaGetter.transform(({ hash, position }) => `${position}:${hash}`)
  })
)

const tampered = (what: string) =>
  new CommandFailed({ message: `The audit log was tampered with: ${what}. Compare it with a backup.` })

const verify = Command.make(
  "verify",
  {
    since: Flag.String("since").pipe(
      Flag.withDescription("The head that an earlier `audit verify` printed, POSITION:HASH"),
      Flag.withSchema(Head),
      Flag.optional
    ),
    json
  },
  Effect.fn("audit verify")(function* (input) {
    const { broken, entries, guarded, head, noted, owned, strangers } = yield* (yield* AuditRepo).verify(
      input.since
    )
    if (Option.isSome(broken))
      return yield* tampered(
        `entry ${broken.value} is not what was written, or does not follow the one before`
      )
    if (Option.isSome(input.since)) {
      const { hash, position } = input.since.value
      if (Option.isNone(noted)) return yield* tampered(`entry ${position} of --since is gone`)
      if (noted.value !== hash)
        return yield* tampered(`entries up to ${position} are not those of --since: they were rewritten`)
    }
    if (!guarded)
      return yield* new CommandFailed({
        message:
          "The audit log is not protected: the trigger audit_entries_stay is missing, altered or not enabled ALWAYS. Find out who changed it. Then recreate the trigger and its function as in migrations/0001_initial.ts, and run: ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay"
      })
    if (strangers.length > 0)
      return yield* new CommandFailed({
        message: `Something else acts on the audit log and may swallow or hide entries: ${strangers.join(", ")} on audit_entries. Find out who put it there, then remove it.`
      })
    const text = Option.map(head, ({ hash, position }) => `${position}:${hash}`)
    const since = Option.getOrNull(Option.map(input.since, ({ position }) => position))
    yield* print(input.json, { entries, head: Option.getOrNull(text), since, owned }, [
      `${entries} entries, each follows the one before${since === null ? "" : `; entries up to ${since} are unchanged since that head`}.`,
      ...Option.match(text, {
        onNone: () => [],
        onSome: (one) => [
          "Keep the head elsewhere; a rewritten or shortened log shows against it:",
          `  bun run cli audit verify --since ${one}`
        ]
      }),
      ...(owned
        ? [
            `This role owns the table, so it can switch the trigger off and rewrite the log${since === null ? "; only --since would detect that" : ""}. See docs/databases.md to give the table to another role.`
          ]
        : [])
    ])
  })
).pipe(
  Command.withDescription("Verify that no entry was changed, removed or inserted"),
  Command.withExamples([{ command: "bun run cli audit verify", description: "Verifies the whole log" }])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription("The audit log of receiving addresses, keys and members"),
  Command.withSubcommands([list, verify])
)
