// Turns a schema's issues into error details: the path and the expected value. The input is not echoed.
import { Predicate, SchemaIssue } from "effect"
import type { ErrorDetail } from "./Errors.ts"

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  bigint: "a whole number",
  array: "an array",
  object: "an object",
  null: "null"
}

/** The value that the schema expects, as a sentence. The contract's messages are noun phrases: `an amount greater than 0`. */
const sentence = (message: string): string => {
  const expected = /^Expected (.*?)(?:,? (?:but )?got .*)?$/s.exec(message)?.[1]
  if (expected === "a value with a length of at least 1") return "Must not be empty."
  if (expected?.startsWith("a value with a length of "))
    return `Must have ${expected.slice("a value with ".length)}.`
  if (expected?.startsWith("a string matching the RegExp ")) return "Must have the documented form."
  const expectation =
    expected === undefined
      ? message
      : expected
          .split(" | ")
          .map((kind) => kinds[kind] ?? kind)
          .join(" or ")
  return /^\p{Lu}/u.test(expectation) ? expectation : `Must be ${expectation}.`
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    const message = SchemaIssue.defaultLeafHook(issue)
    if (issue._tag === "MissingKey" && message === "Missing key") return "Required."
    return issue._tag === "UnexpectedKey" ? "No such field; remove it." : message
  }
})

/** At most 20 details, each with its path below `place`: `body`, `query`, `path`. */
export const issueDetails = (issue: SchemaIssue.Issue, place: string): ReadonlyArray<ErrorDetail> =>
  format(issue)
    .issues.slice(0, 20)
    .map(({ message, path = [] }) => ({
      path: [
        place,
        ...path.map((segment) =>
          String(Predicate.isObject(segment) && "key" in segment ? segment.key : segment)
        )
      ]
        .join(".")
        .slice(0, 200),
      message: sentence(message).slice(0, 300)
    }))
