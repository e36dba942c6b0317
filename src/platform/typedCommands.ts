// Prints commands as the person types them: through `npx` if only Node is installed, and the file itself if no script
// of package.json runs, as in a container.
import type { Console } from "effect"

const isThroughNpx = process.env["npm_config_user_agent"]?.startsWith("npm/") === true

const isScript = process.env["npm_lifecycle_event"] === "cli"
const isCli = /\/cli\/main\.[jt]s$/.test(process.argv[1] ?? "")

export const asTyped = (text: string): string => {
  if (isThroughNpx) return text.replaceAll("bun run ", `npx -y bun@${Bun.version} run `)
  return isCli && !isScript ? text.replaceAll("bun run cli", "bun src/app/cli/main.ts") : text
}

const typed = (text: unknown) => (typeof text === "string" ? asTyped(text) : text)

/** The console of programs that print the next command to run. */
export const typedCommands: Console.Console = Object.assign(Object.create(console), {
  log: (...texts: ReadonlyArray<unknown>) => console.log(...texts.map(typed)),
  error: (...texts: ReadonlyArray<unknown>) => console.error(...texts.map(typed))
})
