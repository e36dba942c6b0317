// `audit list` and `audit verify`: lists the changes in the audit log, and verifies the log.
import { Effect, Option, Schema, SchemaGetter } from "effect"
import { Command, Flag } from "effect/cli"
import { pluralised } from "../../domain/pluralised.ts"
import { AuditRepo } from "../../merchants/audit/AuditRepo.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, merchantId, print } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const maxShown = 100

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
      limit: maxShown,
      ...Option.match(input.before, { onNone: () => ({}), onSome: (before) => ({ before }) })
    })
    const last = entries.at(-1)
    const ofMerchant = Option.match(input.merchant, { onNone: () => "", onSome: (id) => ` --merchant ${id}` })
    yield* print(input.json, { entries }, [
      ...(entries.length === 0 ? ["The audit log is empty."] : []),
      ...entries.map(
        ({ actor, at, env, merchantId, position, summary }) =>
          `${position}  ${at.toISOString()}  ${env ?? "all"}  ${merchantId ?? "the service"}  ${actor} ${summary}`
      ),
      ...(last !== undefined && entries.length === maxShown
        ? [`Earlier entries: bun run cli audit list${ofMerchant} --before ${last.position}`]
        : [])
    ])
  })
).pipe(
  Command.withDescription("List the entries of the audit log, newest first"),
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
    const { broken, entries, isProtected, head, hashAtHead, canDisableTrigger, foreignTriggers } =
      yield* (yield* AuditRepo).verify(input.since)
    if (Option.isSome(broken))
      return yield* tampered(`entry ${broken.value} was changed, or its predecessor was removed`)
    if (Option.isSome(input.since)) {
      const { hash, position } = input.since.value
      if (Option.isNone(hashAtHead)) return yield* tampered(`entry ${position} of --since is gone`)
      if (hashAtHead.value !== hash)
        return yield* tampered(`entries up to ${position} differ from those of --since: they were rewritten`)
    }
    if (!isProtected)
      return yield* new CommandFailed({
        message:
          "The audit log is not protected: the trigger audit_entries_stay is missing, altered or not enabled ALWAYS. Find out who changed it. Then recreate the trigger and its function as in migrations/0001_initial.ts, and run: ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay"
      })
    if (foreignTriggers.length > 0)
      return yield* new CommandFailed({
        message: `Something else acts on the audit log and may drop or hide entries: ${foreignTriggers.join(", ")} on audit_entries. Find out who created it, then remove it.`
      })
    const text = Option.map(head, ({ hash, position }) => `${position}:${hash}`)
    const since = Option.getOrNull(Option.map(input.since, ({ position }) => position))
    yield* print(input.json, { entries, head: Option.getOrNull(text), since, owned: canDisableTrigger }, [
      `${pluralised(entries, "entry", "entries")}, in an unbroken chain${since === null ? "" : `; unchanged up to ${since}, the head of --since`}.`,
      ...Option.match(text, {
        onNone: () => [],
        onSome: (head) => [
          "Store this head elsewhere. A later run with --since detects a rewritten or shortened log:",
          `  bun run cli audit verify --since ${head}`
        ]
      }),
      ...(canDisableTrigger
        ? [
            `This role owns the table, so it can disable the trigger and rewrite the log.${since === null ? " Only --since would detect that." : ""} To give the table to another role, see docs/databases.md.`
          ]
        : [])
    ])
  })
).pipe(
  Command.withDescription("Verify that no entry was changed, removed or inserted"),
  Command.withExamples([{ command: "bun run cli audit verify", description: "Verifies the whole log" }])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription(
    "List and verify the audit log: changes of receiving addresses, settlement limits, keys, members, agents, alert webhooks and operators"
  ),
  Command.withSubcommands([list, verify])
)
