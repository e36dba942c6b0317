// The short form of `bun run test:crash`, if this machine has a Postgres installed.
import { expect, test } from "bun:test"
import { postgresPrograms } from "./cluster.ts"
import { crashRun } from "./crashRun.ts"

const programs = postgresPrograms()
const seed = Math.floor(Math.random() * 2 ** 31)

if (programs === undefined) {
  test.skip("crashes, short form: no Postgres is installed on this machine", () => {})
} else {
  test(`crashes, short form (seed ${seed})`, async () => {
    const summary = await crashRun({
      kills: 5,
      deliveries: 200,
      perSecond: 60,
      freezes: 0,
      restarts: 1,
      migrations: 1,
      calms: 1,
      seed,
      programs,
      refusals: false,
      log: () => {}
    })
    expect(summary.violations).toEqual([])
    expect(summary.deliveries).toBeGreaterThanOrEqual(200)
    expect(summary.killed).toBeGreaterThanOrEqual(5)
  }, 180_000)
}
