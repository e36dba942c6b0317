// One drain: this many due deliveries are queued, sent and recorded; then the received requests are checked.
import { Redacted } from "effect"
import { settledEvent } from "../../../src/domain/Webhook.ts"
import { signatureHeaders } from "../../../src/webhooks/Signature.ts"
import { tokenChanges } from "../dataset.ts"
import type { Received, Receiver } from "../receiver.ts"
import { settings } from "../settings.ts"
import type { Contender } from "./contenders.ts"

const timeoutMillis = 120_000

const makeJobs = (url: string) =>
  Array.from({ length: settings.drain }, () => {
    const id = Bun.randomUUIDv7()
    const transactionId = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`
    const body = Buffer.from(settledEvent({ id, livemode: false, transactionId, tokenChanges })).toString()
    return { id, url, body }
  })

/** @throws Error if a delivery arrived not at all or twice, or one of the first without its body or signatures. */
const checkReceived = (
  { name, secret }: Contender,
  { count, twice, heads }: Received,
  bodies: ReadonlyMap<string, string>
) => {
  if (count !== settings.drain || twice > 0) {
    throw new Error(`${name}: ${count} messages for ${settings.drain} deliveries, ${twice} of them again`)
  }
  for (const { headers, body } of heads) {
    const id = headers["webhook-id"] ?? ""
    const timestamp = Number(headers["webhook-timestamp"])
    const wanted = {
      ...signatureHeaders({ id, timestamp, body: Buffer.from(body) }, Redacted.make(secret)),
      "content-type": "application/json",
      "user-agent": "Quittance-Webhooks/1",
      "accept-encoding": "identity"
    }
    const wrong = Object.entries(wanted).filter(([header, value]) => headers[header] !== value)
    if (wrong.length > 0 || bodies.get(id) !== body) {
      throw new Error(`${name}: a message is not as it should be: ${JSON.stringify(wrong)} ${body}`)
    }
  }
}

const recordedSql = `
  SELECT count(*)::int AS recorded FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
  WHERE d.status = 'delivered' AND d.attempts = 1 AND a.number = 1 AND a.response_status = 204
    AND a.duration_ms IS NOT NULL AND a.request_head IS NOT NULL AND d.created_at >= `

/**
 * Deliveries a second, from the first message at the webhook server until every outcome is recorded and the queue is
 * empty. Each is due 50 microseconds after the one before, and after all of an earlier drain. `tidy` deletes everything
 * of the previous drain.
 */
export const drainOnce = async (
  contender: Contender,
  to: Receiver,
  tidy: () => Promise<void> = contender.tidy
): Promise<number> => {
  const { sql, name } = contender
  const jobs = makeJobs(to.hook)
  await to.reset()
  await tidy()
  const [begun] = await sql`SELECT now()::text AS at`
  await sql`
    INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
    SELECT (job ->> 'id')::uuid, ${contender.merchantId}::uuid, 'test', ${contender.endpointId}::uuid, 'payment.settled',
      convert_to(job ->> 'body', 'UTF8'), 'pending', now() - (${jobs.length} - nr) * interval '50 us', now()
    FROM json_array_elements(${JSON.stringify(jobs)}::text::json) WITH ORDINALITY AS jobs (job, nr)`
  await contender.enqueue(jobs)
  await to.untilReceived(settings.drain, timeoutMillis)
  const deadline = performance.now() + timeoutMillis
  while (!(await contender.idle(jobs))) {
    if (performance.now() > deadline) throw new Error(`${name} does not come to an end`)
    await Bun.sleep(5)
  }
  const end = performance.timeOrigin + performance.now()
  const received = await to.state()
  checkReceived(contender, received, new Map(jobs.map(({ id, body }) => [id, body])))
  const [row] = await sql.unsafe(`${recordedSql}'${begun.at}'`)
  if (row.recorded !== settings.drain)
    throw new Error(`${name}: ${row.recorded} outcomes of ${settings.drain}`)
  return settings.drain / ((end - (received.firstAt ?? Number.NaN)) / 1000)
}
