// Crash points inside a statement: triggers that stall it while the point's row exists in `crash_points`.
import type { SQL } from "bun"

/**
 * `claim`: the attempt rows are being written. `record`: an answer was read and is being
 * recorded. `settle`: a settlement's delivery is being written. `secret`: a new secret is.
 */
export type StallPoint = "claim" | "record" | "settle" | "secret"

const triggers: ReadonlyArray<readonly [StallPoint, string]> = [
  ["claim", "BEFORE INSERT ON webhook_attempts"],
  ["record", "BEFORE UPDATE OF duration_ms ON webhook_attempts"],
  ["settle", "BEFORE INSERT ON webhook_deliveries"],
  ["secret", "BEFORE UPDATE OF secret_ciphertext ON webhook_endpoints"]
]

export const installStalls = async (sql: SQL): Promise<void> => {
  await sql.unsafe("CREATE TABLE crash_points (point text PRIMARY KEY)")
  await sql.unsafe(`
    CREATE FUNCTION crash_stall() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT 1 FROM crash_points WHERE point = TG_ARGV[0]) THEN PERFORM pg_sleep(0.4); END IF;
      RETURN NEW;
    END $$`)
  for (const [point, when] of triggers) {
    await sql.unsafe(
      `CREATE TRIGGER crash_${point} ${when} FOR EACH ROW EXECUTE FUNCTION crash_stall('${point}')`
    )
  }
}

/** Waits, at most a second, until some statement stalls at the point. */
export const stallAt = async (sql: SQL, point: StallPoint): Promise<boolean> => {
  await sql`INSERT INTO crash_points VALUES (${point}) ON CONFLICT DO NOTHING`
  for (let wait = 0; wait < 50; wait++) {
    const [row] = await sql`
      SELECT count(*)::int AS stalled FROM pg_stat_activity WHERE wait_event = 'PgSleep'`
    if (row.stalled > 0) return true
    await Bun.sleep(20)
  }
  return false
}

export const endStall = (sql: SQL) => sql`DELETE FROM crash_points`

/** Ends the stalled backends: their writes are rolled back. */
export const terminateStalled = (sql: SQL) => sql`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`
