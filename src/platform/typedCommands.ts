// Prints commands as the person types them: through npx, if only Node is installed.
import type { Console } from "effect"

const isThroughNpx = process.env["npm_config_user_agent"]?.startsWith("npm/") === true

const typed = (text: unknown) =>
  isThroughNpx && typeof text === "string"
    ? text.replaceAll("bun run ", `npx -y bun@${Bun.version} run `)
    : text

/** The console of programs that print the next command to run. */
export const typedCommands: Console.Console = Object.assign(Object.create(console), {
  log: (...texts: ReadonlyArray<unknown>) => console.log(...texts.map(typed)),
  error: (...texts: ReadonlyArray<unknown>) => console.error(...texts.map(typed))
})
