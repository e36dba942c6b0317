// The errors that a client reads about a body that breaks its schema.
import { expect, test } from "bun:test"
import { Exit, Schema } from "effect"
import { issueDetails } from "../../src/domain/issueDetails.ts"
import { UsdAmount } from "../../src/domain/Money.ts"

const Sizes = Schema.Struct({
  filled: Schema.String.check(Schema.isMinLength(1)),
  code: Schema.String.check(Schema.isMinLength(6)),
  short: Schema.String.check(Schema.isMaxLength(2)),
  few: Schema.Array(Schema.Int).check(Schema.isMaxLength(2)),
  digits: Schema.String.check(Schema.isPattern(/^[0-9]+$/))
})
const Body = Schema.Struct({
  amount: UsdAmount,
  env: Schema.Literals(["test", "live"]),
  items: Schema.Array(Schema.Struct({ count: Schema.Int })),
  note: Schema.NullOr(Schema.String)
})

const detailsOf = (input: unknown, schema: Schema.Decoder<unknown> = Body) => {
  const exit = Schema.decodeUnknownExit(schema, { errors: "all", onExcessProperty: "error" })(input)
  if (Exit.isSuccess(exit)) throw new Error("was accepted")
  const [reason] = exit.cause.reasons
  if (reason?._tag !== "Fail" || !Schema.isSchemaError(reason.error)) throw new Error("is no schema error")
  return issueDetails(reason.error.issue, "body").map(({ path, message }) => `${path}: ${message}`)
}

test("each place says what belongs there", () => {
  expect(detailsOf({ amount: 1, env: "prod", items: [{ count: 1.5 }, {}], note: 3, extra: true })).toEqual([
    "body.extra: No such field; remove it.",
    "body.amount: Must be a string.",
    'body.env: Must be "test" or "live".',
    "body.items.0.count: Must be an integer.",
    "body.items.1.count: Required.",
    "body.note: Must be a string or null."
  ])
  expect(detailsOf([])).toEqual(["body: Must be an object."])
})

test("lengths and patterns are in a person's words", () => {
  expect(detailsOf({ filled: "", code: "12345", short: "abc", few: [1, 2, 3], digits: "x" }, Sizes)).toEqual([
    "body.filled: Must not be empty.",
    "body.code: Must have a length of at least 6.",
    "body.short: Must have a length of at most 2.",
    "body.few: Must have a length of at most 2.",
    "body.digits: Must have the documented form."
  ])
})

test("a message of the contract is passed on unchanged, and no input is repeated", () => {
  const secret = "sk_test_secret"
  expect(detailsOf({ amount: secret, env: "test", items: secret, note: null }).join("\n")).toBe(
    'body.amount: Must be an amount such as "10.00", with up to 14 integer digits and 6 decimals.\nbody.items: Must be an array.'
  )
})
