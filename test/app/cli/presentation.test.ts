// The answer to a command line that is not understood, apart from help: two lines, or one JSON document.
import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { programOf } from "../../support/process.ts"

setDefaultTimeout(60_000)

const root = join(import.meta.dir, "../../..")

const run = (env: Readonly<Record<string, string>>, words: ReadonlyArray<string>) => {
  const { exitCode, stderr, stdout } = Bun.spawnSync(
    [process.execPath, programOf("src/app/cli/main.ts"), ...words],
    // Without the secrets that production requires.
    { cwd: root, env: { PATH: process.env["PATH"], ENVIRONMENT: "production", ...env } }
  )
  return { exitCode, out: stdout.toString().trim(), lines: stderr.toString().trim().split("\n") }
}
const typed = (...words: ReadonlyArray<string>) => run({}, words)

test("a wrong value gets two lines on standard error: what is wrong, and an example", () => {
  const wrong = typed("merchant", "create", "--name", "Shop", "--receiver", "0xYourAddress")
  expect([wrong.exitCode, wrong.out]).toEqual([2, ""])
  expect(wrong.lines).toEqual([
    'Invalid value for flag --receiver: "0xYourAddress". Expected: an address: 0x and 40 hex digits, with a valid EIP-55 checksum if the case is mixed',
    "For example: bun src/app/cli/main.ts merchant create --name 'Demo Books' --receiver 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"
  ])
})

test("started by npx, it prints commands that npx runs too", () => {
  const throughNpx = (...words: ReadonlyArray<string>) =>
    run({ npm_config_user_agent: "npm/11.6.0 node/v24.11.0 linux x64" }, words)
  const example = `For example: npx -y bun@${Bun.version} run cli agent list --merchant `
  expect(throughNpx("agent", "list").lines[1]).toStartWith(example)
  expect(JSON.parse(throughNpx("agent", "list", "--json").out).error.hint).toStartWith(example)
  expect(throughNpx("agent", "list", "--help").out).toContain(`npx -y bun@${Bun.version} run cli agent list`)
})

test("with --json the error is one document on standard output", () => {
  const wrong = typed("merchant", "create", "--json")
  expect([wrong.exitCode, wrong.lines]).toEqual([2, [""]])
  expect(JSON.parse(wrong.out)).toEqual({
    error: { message: "Missing required flag: --name", hint: expect.stringContaining("For example: ") }
  })
  const failed = typed("agent", "list", "--json", "--merchant", crypto.randomUUID(), "--env", "test")
  expect([failed.exitCode, JSON.parse(failed.out)]).toEqual([1, { error: { message: expect.any(String) } }])
})

test("a near-miss gets a suggestion; anything else gets the list of commands", () => {
  expect(typed("doctr").lines[0]).toBe(
    'Unknown subcommand "doctr" for "bun src/app/cli/main.ts". Did you mean doctor?'
  )
  expect(typed("merchant", "change").lines).toEqual([
    'Unknown subcommand "change" for "bun src/app/cli/main.ts merchant"',
    "Subcommands: create, list, update"
  ])
})

test("help shows usage, flags and examples before the common flags", () => {
  const { exitCode, out } = typed("merchant", "create", "--help")
  expect(exitCode).toBe(0)
  const places = ["USAGE", "FLAGS", "EXAMPLES", "Flags of every command: --help"].map((part) =>
    out.indexOf(part)
  )
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(places[0]).toBeGreaterThan(-1)
})
