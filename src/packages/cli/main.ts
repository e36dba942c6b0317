// `quittance`: a shop developer's commands, which use only a secret key and HTTP. Runs on Node and Bun. Exit
// codes: 0 success, 1 failure, 2 invalid command or arguments, 130 interrupted.
import { parseArgs } from "node:util"
import { nearestOf } from "../../platform/nearestOf.ts"
import { QuittanceError } from "../client/QuittanceError.ts"
import type { Command } from "./Command.ts"
import { CommandRefused } from "./CommandRefused.ts"
import { commands } from "./commands.ts"
import { listen } from "./listen.ts"
import { version } from "./package.json"
import { program } from "./program.ts"

const all: Readonly<Record<string, Command>> = { ...commands, listen }

const shared = {
  url: { type: "string", about: "The service's address; by default QUITTANCE_URL, then what `login` stored" },
  key: { type: "string", about: "Its secret key; by default QUITTANCE_KEY, then what `login` stored" },
  json: { type: "boolean", about: "Print one JSON document per line" },
  help: { type: "boolean", short: "h", about: "Describe the command" }
} as const satisfies Command["options"]

const overview = () =>
  [
    "quittance: a shop's payments and webhooks, by its secret key.",
    "",
    ...Object.entries(all).map(([name, { summary }]) => `  ${name.padEnd(26)}${summary}`),
    "",
    `${program} COMMAND --help describes a command and its flags.`
  ].join("\n")

const helpOf = ({ options, required, summary }: Command, usage: string) =>
  [
    `${summary}.`,
    usage,
    "",
    ...Object.entries({ ...options, ...shared }).map(
      ([flag, { about }]) =>
        `  ${`--${flag}`.padEnd(16)}${required?.includes(flag) === true ? about.replace(/; by default .*|$/, " (required)") : about}`
    )
  ].join("\n")

const find = (words: ReadonlyArray<string>) => {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ")
    const command = Object.hasOwn(all, name) ? all[name] : undefined
    if (command !== undefined) return { command, name, rest: words.slice(length) }
  }
  return undefined
}

const unknownCommand = (words: ReadonlyArray<string>) => {
  const names = Object.keys(all)
  const begun = words.length === 0 ? [] : names.filter((name) => name.startsWith(words[0] ?? ""))
  const near = nearestOf(words.slice(0, 2).join(" "), names) ?? nearestOf(words[0] ?? "", names)
  const meant = near === undefined ? begun : [near]
  return new CommandRefused(
    words.length === 0 ? "Name a command." : `There is no command \`${words.join(" ")}\`.`,
    2,
    meant.length === 0
      ? `List them: ${program} help`
      : `Did you mean ${meant.map((name) => `\`${program} ${name}\``).join(" or ")}?`
  )
}

const main = async (args: ReadonlyArray<string>): Promise<void> => {
  const [first] = args
  if (first === undefined || first === "help" || first === "--help" || first === "-h")
    return console.log(overview())
  if (first === "--version") return console.log(version)
  const match = find(args)
  if (match === undefined) throw unknownCommand(args.filter((arg) => !arg.startsWith("-")))
  const { command, name, rest } = match
  const usage = `Usage: ${program} ${command.usage}`
  const parsed = (() => {
    try {
      return parseArgs({
        args: [...rest],
        options: { ...shared, ...command.options },
        allowPositionals: true,
        strict: true
      })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // The parser adds advice on positional arguments, which no command here needs.
      throw new CommandRefused(message.replace(/\. To specify a positional argument.*$/s, "."), 2, usage)
    }
  })()
  const flags = Object.fromEntries(
    Object.entries(parsed.values).map(([flag, value]) => [
      flag,
      value === undefined ? undefined : String(value)
    ])
  )
  if (flags["help"] === "true") return console.log(helpOf(command, usage))
  const missing = command.required?.find((flag) => flags[flag] === undefined)
  if (missing !== undefined) throw new CommandRefused(`\`${name}\` needs --${missing}.`, 2, usage)
  const lacking = command.words?.[parsed.positionals.length]
  if (lacking !== undefined) throw new CommandRefused(`\`${name}\` needs ${lacking}.`, 2, usage)
  const isJson = flags["json"] === "true"
  await command.run({
    flags,
    words: parsed.positionals,
    say: (text) => console.error(text),
    print: (document, text) => console.log(isJson ? JSON.stringify(document) : text)
  })
}

/** The error as --json prints it, in the form of the operator's command line. */
const documentOf = (error: unknown) => {
  if (error instanceof QuittanceError) {
    const { code, details, message, requestId } = error
    return { message, code, requestId, ...(details.length === 0 ? {} : { details }) }
  }
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof CommandRefused ? { message, hint: error.hint } : { message }
}

const textOf = (error: unknown) => {
  if (error instanceof QuittanceError)
    return [
      // Here the client's option is a flag.
      `${error.message.replace("baseUrl", "--url")} (${error.code}${error.requestId === undefined ? "" : `, ${error.requestId}`})`,
      ...error.details.map(({ message, path }) => `  ${path}: ${message}`)
    ].join("\n")
  const { hint, message } = { hint: undefined, ...documentOf(error) }
  return hint === undefined ? message : `${message}\n${hint}`
}

process.on("SIGINT", () => process.exit(130))
process.on("SIGTERM", () => process.exit(143))
const args = process.argv.slice(2)
main(args).catch((error: unknown) => {
  if (args.includes("--json")) console.log(JSON.stringify({ error: documentOf(error) }))
  else console.error(textOf(error))
  process.exitCode = error instanceof CommandRefused ? error.exitCode : 1
})
