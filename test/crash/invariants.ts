// The invariants at the end of a run, read from the database and from the merchants' requests.
import { createHmac } from "node:crypto"
import type { SQL } from "bun"
import type { Received } from "./merchants.ts"

export interface Verdict {
  readonly settled: number
  readonly deliveries: number
  readonly requests: number
  readonly interrupted: number
  readonly retried: number
  readonly failedByInterruption: number
  readonly violations: ReadonlyArray<string>
}

interface Row {
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly interruptions: number
  readonly body: string
}

/** The shortest time between requests that the retry policy allows, in milliseconds. */
const least: ReadonlyArray<number> = [60_000, 240_000]

const verifies = (request: Received, secrets: ReadonlyArray<string>) => {
  const [, timestamp = "", signature = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(request.signature) ?? []
  return secrets.some(
    (secret) =>
      createHmac("sha256", secret).update(`${timestamp}.${request.body}`).digest("hex") === signature
  )
}

const judge = (
  row: Row,
  requests: ReadonlyArray<Received>,
  secrets: ReadonlyArray<string>
): Array<string> => {
  const found: Array<string> = []
  const of = (message: string) => found.push(`${row.id}: ${message}`)
  const accepted = requests.some((one) => one.answered === 200)
  if (row.status === "pending") of("stuck")
  if (row.status === "delivered" && !accepted) of("called delivered, but no receiver accepted it")
  if (row.status === "failed" && row.interruptions < 5) of("failed without five interruptions")
  if (row.status === "cancelled") of("cancelled, though its endpoint stands")
  if (requests.length === 0 && row.status !== "failed") of("lost: no receiver was asked")
  if (requests.some((one) => one.body !== row.body)) of("body differs")
  if (requests.some((one) => !verifies(one, secrets))) of("signature does not verify")
  if (requests.length > row.attempts + row.interruptions)
    of(`${requests.length} requests for ${row.attempts} attempts and ${row.interruptions} interruptions`)
  if (row.interruptions === 0) {
    if (requests.length > 3) of("more than three requests without a crash")
    requests.slice(1).forEach((one, index) => {
      const gap = one.at - (requests[index]?.at ?? 0)
      if (gap < (least[index] ?? 0)) of(`attempt ${index + 2} came ${gap} ms after the one before`)
    })
  }
  return found
}

/** Checks the run. `secrets` are all that the endpoints ever had. */
export const judgeRun = async (
  sql: SQL,
  received: ReadonlyArray<Received>,
  secrets: ReadonlyArray<string>
): Promise<Verdict> => {
  const rows: ReadonlyArray<Row> = await sql`
    SELECT id, status, attempts, interruptions, convert_from(body, 'UTF8') AS body FROM webhook_deliveries`
  const [counts] = await sql`
    SELECT (SELECT count(*)::int FROM payments WHERE status = 'settled') AS settled,
      (SELECT count(*)::int FROM payments p WHERE p.status = 'settled' AND NOT EXISTS (
        SELECT 1 FROM webhook_deliveries d WHERE d.payment_id = p.id)) AS silent,
      (SELECT count(*)::int FROM webhook_deliveries d JOIN payments p ON p.id = d.payment_id
        WHERE p.status <> 'settled') AS unfounded,
      (SELECT count(*)::int FROM webhook_deliveries d WHERE d.status = 'failed' AND NOT EXISTS (
        SELECT 1 FROM alerts a WHERE a.kind = 'webhook_exhausted' AND a.subject = d.id::text)) AS unalerted`
  const byId = new Map<string, Array<Received>>()
  for (const one of received) {
    const all = byId.get(one.id)
    if (all === undefined) byId.set(one.id, [one])
    else all.push(one)
  }
  const known = new Set(rows.map((row) => row.id))
  const violations = rows.flatMap((row) => judge(row, byId.get(row.id) ?? [], secrets))
  for (const id of byId.keys()) if (!known.has(id)) violations.push(`${id}: received, but never queued`)
  if (counts.silent > 0) violations.push(`${counts.silent} settlements without a delivery`)
  if (counts.unfounded > 0) violations.push(`${counts.unfounded} deliveries without a settlement`)
  if (counts.unalerted > 0) violations.push(`${counts.unalerted} exhausted deliveries without an alert`)
  return {
    settled: counts.settled,
    deliveries: rows.length,
    requests: received.length,
    interrupted: rows.filter((row) => row.interruptions > 0).length,
    retried: rows.filter((row) => row.attempts > 1).length,
    failedByInterruption: rows.filter((row) => row.status === "failed").length,
    violations
  }
}
