// The loop of compose's backup container, run by `sh` on a directory, with a stand-in for `bun`.
import { expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"

const Compose = Schema.Struct({
  services: Schema.Struct({
    backup: Schema.Struct({ command: Schema.Tuple([Schema.String, Schema.String, Schema.String]) })
  })
})
const { services } = Schema.decodeUnknownSync(Compose)(
  Bun.YAML.parse(readFileSync(join(import.meta.dir, "../../docker-compose.yml"), "utf8"))
)
const [, , script] = services.backup.command

const until = async (what: string, holds: () => boolean) => {
  for (const end = Date.now() + 10_000; !holds(); await Bun.sleep(10))
    if (Date.now() > end) throw new Error(`not in time: ${what}`)
}

/**
 * A volume, and the container's command on it; `backup` is the stand-in's script, which gets the file's path as `$4`.
 */
const volume = (backup: string) => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-backups-"))
  const [files, programs] = [join(directory, "backups"), join(directory, "programs")]
  mkdirSync(files)
  mkdirSync(programs)
  writeFileSync(join(programs, "bun"), `#!/bin/sh\n${backup}\n`)
  chmodSync(join(programs, "bun"), 0o755)
  const [shell, option] = services.backup.command
  return {
    files,
    names: () => readdirSync(files).toSorted(),
    leave: (name: string, hoursAgo: number) => {
      const seconds = Date.now() / 1000 - hoursAgo * 3600
      writeFileSync(join(files, name), "")
      utimesSync(join(files, name), seconds, seconds)
    },
    start: () =>
      Bun.spawn([shell, option, script.replaceAll("$$", "$").replaceAll("/backups", files)], {
        env: { PATH: `${programs}:${process.env["PATH"]}` },
        stdout: "ignore",
        stderr: "inherit"
      }),
    remove: () => rmSync(directory, { recursive: true })
  }
}

test("keeps two weeks however often it starts, and removes what killed backups left", async () => {
  const { leave, names, remove, start } = volume('echo whole > "$4"')
  const days = Array.from({ length: 12 }, (_, day) => `day${String(day + 2).padStart(2, "0")}.gz`)
  for (const [index, name] of days.entries()) leave(name, (index + 2) * 24)
  leave("day20.gz", 20 * 24)
  leave("old.gz.0a1b2c3d.partial", 2)
  leave("new.gz.0a1b2c3d.partial", 0)
  for (let count = 0; count < 14; count++) {
    const container = start()
    await until("the backup of the day", () => names().some((name) => /^\d{8}T\d{6}Z\.gz$/.test(name)))
    await Bun.sleep(200)
    container.kill("SIGTERM")
    expect(await container.exited).toBe(0)
  }
  expect(names().filter((name) => !/^\d{8}T\d{6}Z\.gz$/.test(name))).toEqual([
    ...days,
    "new.gz.0a1b2c3d.partial"
  ])
  // One a day, not one for each start.
  expect(names()).toHaveLength(14)
  remove()
})

test("a wrong clock neither prevents a backup nor deletes the newest ones", async () => {
  const { leave, names, remove, start } = volume('echo whole > "$4"')
  leave("ahead.gz", -48)
  for (let day = 20; day < 28; day++) leave(`day${day}.gz`, day * 24)
  const container = start()
  await until("a backup", () => names().some((name) => /^\d{8}T\d{6}Z\.gz$/.test(name)))
  await until("the oldest are deleted", () => names().length === 7)
  container.kill("SIGTERM")
  await container.exited
  expect(names().slice(1)).toEqual(["ahead.gz", "day20.gz", "day21.gz", "day22.gz", "day23.gz", "day24.gz"])
  remove()
})

test("stops a running backup, and waits for it", async () => {
  const { files, remove, start } = volume(
    `trap 'echo stopped > "$4.stopped"; kill $!; exit 1' TERM; echo > "$4.started"; sleep 30 & wait`
  )
  const container = start()
  await until("a backup runs", () => readdirSync(files).some((name) => name.endsWith(".started")))
  const asked = performance.now()
  container.kill("SIGTERM")
  expect(await container.exited).toBe(0)
  expect(performance.now() - asked).toBeLessThan(20_000)
  const stopped = readdirSync(files).find((name) => name.endsWith(".stopped"))
  expect(existsSync(join(files, stopped ?? "none"))).toBe(true)
  remove()
})

test("removes nothing if backups fail", async () => {
  const { leave, names, remove, start } = volume("exit 1")
  leave("day20.gz", 20 * 24)
  const container = start()
  await Bun.sleep(300)
  container.kill("SIGTERM")
  expect(await container.exited).toBe(0)
  expect(names()).toEqual(["day20.gz"])
  remove()
})
