// A seed is the same run in another process: with another time zone, locale, home, directory and environment,
// and with less memory.
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fixedHashes } from "./fixedHashes.ts"

let home = ""
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "quittance-elsewhere-"))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const hashIn = async (seed: string, environment: Record<string, string>, flags: ReadonlyArray<string>) => {
  const child = Bun.spawn([process.execPath, ...flags, join(import.meta.dir, "main.ts"), "--seed", seed], {
    cwd: home,
    env: { PATH: "/nowhere", HOME: home, TMPDIR: home, ...environment },
    stdout: "pipe",
    stderr: "inherit"
  })
  const told = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return /trace ([0-9a-f]{16})/.exec(told)?.[1]
}

test("in Apia, in Turkish, with little memory", async () => {
  const environment = { TZ: "Pacific/Apia", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" }
  expect(await hashIn("first", environment, ["--smol"])).toBe(fixedHashes.first)
}, 180_000)

test("in Kathmandu, among another service's settings", async () => {
  const environment = { TZ: "Asia/Kathmandu", NODE_ENV: "production", BASE_URL: "https://pay.example" }
  expect(await hashIn("second", environment, [])).toBe(fixedHashes.second)
}, 180_000)
