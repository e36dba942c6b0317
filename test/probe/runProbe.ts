// The command as a process, and its scorecard read back.
import { Effect, Schema } from "effect"
import { spawnProgram } from "../support/process.ts"

const Document = Schema.fromJsonString(
  Schema.Struct({
    target: Schema.String,
    cases: Schema.Array(
      Schema.Struct({
        group: Schema.String,
        id: Schema.String,
        reference: Schema.String,
        expected: Schema.String,
        actual: Schema.String,
        verdict: Schema.Literals(["held", "failed", "skipped"])
      })
    ),
    totals: Schema.Struct({ held: Schema.Int, failed: Schema.Int, skipped: Schema.Int })
  })
)

/** Code, and all that it printed, progress included. */
export const probe = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const child = yield* spawnProgram(["src/probe/main.ts", ...args], {})
    const code = yield* child.exited
    return { code, output: child.output() }
  }).pipe(Effect.scoped, Effect.runPromise)

/** As `probe`, of a service that is one's own, with the document that `--json` prints. */
export const probeOwn = async (...args: ReadonlyArray<string>) => {
  const { code, output } = await probe(...args, "--mine", "--json")
  const line = output.split("\n").find((text) => text.startsWith("{")) ?? ""
  const document = Schema.decodeUnknownSync(Document)(line)
  const idsOf = (verdict: "held" | "failed" | "skipped") =>
    document.cases.filter((one) => one.verdict === verdict).map(({ id }) => id)
  return { code, ...document, held: idsOf("held"), failed: idsOf("failed"), skipped: idsOf("skipped") }
}
