// `audit list` and `audit verify`: who changed where money goes, and whether the log is what was written.
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { AuditRepo } from "../audit/AuditRepo.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, merchantId, print } from "./flags.ts"

const shown = 100

const list = Command.make(
  "list",
  {
    merchant: merchantId.pipe(Flag.optional),
    before: Flag.Int("before").pipe(
      Flag.withDescription("Entries before this position; the newest without it"),
      Flag.optional
    ),
    json
  },
  Effect.fn("audit list")(function* (input) {
    const entries = yield* (yield* AuditRepo).list(Option.getOrNull(input.merchant), {
      limit: shown,
      ...Option.match(input.before, { onNone: () => ({}), onSome: (before) => ({ before }) })
    })
    const last = entries.at(-1)
    yield* print(input.json, { entries }, [
      ...(entries.length === 0 ? ["No changes of addresses, keys or members are written down."] : []),
      ...entries.map(
        ({ actor, at, env, position, summary }) =>
          `${position}  ${at.toISOString()}  ${env ?? "both"}  ${actor} ${summary}`
      ),
      ...(last !== undefined && entries.length === shown
        ? [`Earlier ones: bun run cli audit list --before ${last.position}`]
        : [])
    ])
  })
).pipe(Command.withDescription("List changes of receiving addresses, keys and members, newest first"))

const verify = Command.make(
  "verify",
  { json },
  Effect.fn("audit verify")(function* (input) {
    const { broken, entries, head } = yield* (yield* AuditRepo).verify
    if (Option.isSome(broken)) {
      return yield* new CommandFailed({
        message: `The audit log was tampered with: entry ${broken.value} is not what was written, or does not follow the one before. Compare it with a backup.`
      })
    }
    yield* print(input.json, { entries, head: Option.getOrNull(head) }, [
      `${entries} entries, each as it was written.`,
      ...Option.match(head, {
        onNone: () => [],
        onSome: (hash) => [
          `Keep this elsewhere; it shows later whether entries were cut off at the end: ${hash}`
        ]
      })
    ])
  })
).pipe(Command.withDescription("Check that no entry was changed, removed or put between"))

export const audit = Command.make("audit").pipe(
  Command.withDescription("The log of changes to where money goes and who may change it"),
  Command.withSubcommands([list, verify])
)
