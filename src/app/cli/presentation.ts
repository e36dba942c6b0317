// The command line's help and usage errors. Standard output contains only the result: with --json a single
// document, even for an error.
import { Console, Effect, type Layer, Option } from "effect"
import { type CliError, CliOutput, type HelpDoc } from "effect/cli"

const asksForJson = process.argv.includes("--json")

/** The parser's message on one line, with its suggestion as a question. */
const plainMessage = (text: string) =>
  text
    .replaceAll("Schema validation failed: ", "")
    .replace(/\s+/g, " ")
    .replace(
      / Did you mean this\? (.+)$/,
      (_, names: string) => `. Did you mean ${names.replaceAll(" ", " or ")}?`
    )

/** Prints the error and possible corrections. `fields`: additional fields of the document. */
export const printError = (message: string, hint?: string, fields: object = {}): Effect.Effect<void> =>
  asksForJson
    ? Console.log(JSON.stringify({ ...fields, error: { message, hint } }))
    : Console.error(hint === undefined ? message : `${message}\n${hint}`)

const hintOf = ({ examples = [], subcommands = [], usage }: HelpDoc.HelpDoc) => {
  const [example] = examples
  if (example !== undefined) return `For example: ${example.command}`
  const names = subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
  return names.length > 0 ? `Subcommands: ${names.join(", ")}` : `Usage: ${usage}`
}

/** Leaves out errors about the flags of an unknown command. */
const relevantErrors = (errors: ReadonlyArray<CliError.NonShowHelpErrors>) => {
  const unknown = errors.find(({ _tag }) => _tag === "UnknownSubcommand")
  return unknown === undefined ? errors : [unknown]
}

const withRequired = (flag: HelpDoc.FlagDoc): HelpDoc.FlagDoc => ({
  ...flag,
  description: Option.map(flag.description, (text) => (flag.required ? `${text} (required)` : text))
})

/** Marks required flags, and puts the flags that every command accepts at the end, on one line. */
const helpOf = (formatter: CliOutput.Formatter, doc: HelpDoc.HelpDoc) => {
  const common = (doc.globalFlags ?? []).map(({ name }) => `--${name}`)
  return `${formatter.formatHelpDoc({ ...doc, flags: doc.flags.map(withRequired), globalFlags: [] })}\n\nFlags of every command: ${common.join(", ")}`
}

export const layer: Layer.Layer<never> = CliOutput.layerPresenter({
  present: Effect.fnUntraced(function* (event) {
    const formatter = CliOutput.defaultFormatter({ colors: process.stdout.isTTY })
    switch (event._tag) {
      case "Help":
        return yield* Console.log(helpOf(formatter, event.helpDoc))
      case "InvalidInvocation":
        return yield* printError(
          relevantErrors(event.errors)
            .map(({ message }) => plainMessage(message))
            .join("; "),
          hintOf(event.helpDoc)
        )
      case "Version":
        return yield* Console.log(formatter.formatVersion(event.name, event.version))
    }
  })
})
