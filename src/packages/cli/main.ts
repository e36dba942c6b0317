// `quittance`: what a shop's developer does by key, over HTTP alone. Runs on Node and Bun. Exit codes: 0 done,
// 1 it could not be done, 2 not a command, 130 interrupted.
import { parseArgs } from "node:util"
import { QuittanceError } from "../client/QuittanceError.ts"
import type { Command } from "./Command.ts"
import { CommandRefused } from "./CommandRefused.ts"
import { commands } from "./commands.ts"
import { listen } from "./listen.ts"

const all: Readonly<Record<string, Command>> = { ...commands, listen }

const shared = {
  url: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" }
} as const

const overview = () =>
  [
    "quittance: payments of a shop, by its secret key.",
    "",
    ...Object.entries(all).map(([name, { summary }]) => `  ${name.padEnd(26)}${summary}`),
    "",
    "Each takes --url and --key (or QUITTANCE_URL and QUITTANCE_KEY, or what login has stored) and --json.",
    "`quittance COMMAND --help` says more."
  ].join("\n")

const find = (words: ReadonlyArray<string>) => {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ")
    const command = Object.hasOwn(all, name) ? all[name] : undefined
    if (command !== undefined) return { command, name, rest: words.slice(length) }
  }
  return undefined
}

const main = async (given: ReadonlyArray<string>): Promise<void> => {
  const [first] = given
  if (first === undefined || first === "help" || first === "--help" || first === "-h")
    return console.log(overview())
  const found = find(given)
  if (found === undefined) {
    const near = Object.keys(all).filter((name) => name.startsWith(first))
    throw new CommandRefused(
      near.length === 0
        ? `There is no command ${given.filter((one) => !one.startsWith("-")).join(" ")}. \`quittance help\` lists them.`
        : `Which one? ${near.map((name) => `\`quittance ${name}\``).join(", ")}`,
      2
    )
  }
  const { command, name, rest } = found
  const usage = `Usage: quittance ${command.usage}`
  const parsed = (() => {
    try {
      return parseArgs({
        args: [...rest],
        options: { ...shared, ...command.options },
        allowPositionals: true,
        strict: true
      })
    } catch (error) {
      throw new CommandRefused(`${error instanceof Error ? error.message : error}\n${usage}`, 2)
    }
  })()
  const flags = Object.fromEntries(
    Object.entries(parsed.values).map(([flag, value]) => [
      flag,
      value === undefined ? undefined : String(value)
    ])
  )
  if (flags["help"] === "true") return console.log(`${command.summary}.\n${usage}`)
  const missing = command.required?.find((flag) => flags[flag] === undefined)
  if (missing !== undefined)
    throw new CommandRefused(`\`quittance ${name}\` needs --${missing}.\n${usage}`, 2)
  if (parsed.positionals.length < (command.words ?? 0)) throw new CommandRefused(usage, 2)
  const isJson = flags["json"] === "true"
  await command.run({
    flags,
    words: parsed.positionals,
    say: (text) => console.error(text),
    print: (document, text) => console.log(isJson ? JSON.stringify(document) : text)
  })
}

const sentence = (error: unknown) => {
  if (error instanceof QuittanceError)
    return [
      `${error.message} (${error.code}${error.requestId === undefined ? "" : `, ${error.requestId}`})`,
      ...error.details.map(({ message, path }) => `  ${path}: ${message}`)
    ].join("\n")
  return error instanceof Error ? error.message : String(error)
}

process.on("SIGINT", () => process.exit(130))
process.on("SIGTERM", () => process.exit(143))
main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(sentence(error))
  process.exitCode = error instanceof CommandRefused ? error.exitCode : 1
})
