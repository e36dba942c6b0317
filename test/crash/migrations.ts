// Kills in the middle of a migration.
import { SQL } from "bun"
import type { Cluster } from "./cluster.ts"
import { type Surroundings, startService } from "./processes.ts"

/** Kills the service while it migrates an empty database; it must still start afterwards. */
export const crashInMigrations = async (
  cluster: Cluster,
  surroundings: Surroundings,
  rounds: number,
  random: () => number
) => {
  let failures = 0
  for (let round = 0; round < rounds; round++) {
    const name = `migrating_${round}`
    await cluster.sql.unsafe(`CREATE DATABASE ${name}`)
    const there = { ...surroundings, databaseUrl: cluster.urlOf(name) }
    const first = await startService(there)
    const migrating = new SQL(there.databaseUrl, { max: 1 })
    // From the first table of the migration on, a few milliseconds more.
    for (let wait = 0; wait < 400; wait++) {
      const [row] = await migrating`SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'`
      const [busy] = await migrating`
        SELECT count(*)::int AS busy FROM pg_stat_activity
        WHERE datname = ${name} AND pid <> pg_backend_pid() AND state <> 'idle'`
      if (row.tables > 0 || busy.busy > 0) break
      await Bun.sleep(2)
    }
    await Bun.sleep(random() * 30)
    first.kill()
    const second = await startService(there)
    if (!(await second.ready())) failures++
    second.kill()
    await migrating.close({ timeout: 0 })
  }
  return failures
}
