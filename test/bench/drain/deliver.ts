// A job of either queue: the same POST as the service sends, and the same outcome recorded. A dozen lines, as their
// users would write them.
import { Redacted } from "effect"
import postgres from "postgres"
import { signatureHeaders } from "../../../src/webhooks/Signature.ts"

export interface DeliveryJob {
  readonly id: string
  readonly url: string
  readonly body: string
}

export interface Outcome {
  readonly id: string
  readonly ok: boolean
  readonly started_at: Date
  readonly duration_ms: number
  readonly response_status: number | null
  readonly failure: "status" | "connect" | null
  readonly request_head: string
}

/** One string for all, as an environment variable would contain it. */
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
const secret = Redacted.make(webhookSecret)

const post = async (url: string, headers: Readonly<Record<string, string>>, body: string) => {
  try {
    const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(15_000) })
    await response.arrayBuffer()
    return response
  } catch {
    return undefined
  }
}

/** Never throws: a refusal is an outcome to record, and the queue retries it. */
export const send = async ({ id, url, body }: DeliveryJob): Promise<Outcome> => {
  const started_at = new Date()
  const started = performance.now()
  const timestamp = Math.floor(started_at.getTime() / 1000)
  const headers = {
    "user-agent": "Quittance-Webhooks/1",
    "accept-encoding": "identity",
    "content-type": "application/json",
    ...signatureHeaders({ id, timestamp, body: Buffer.from(body) }, secret)
  }
  const response = await post(url, headers, body)
  return {
    id,
    ok: response?.ok === true,
    started_at,
    duration_ms: Math.round(performance.now() - started),
    response_status: response?.status ?? null,
    failure: response === undefined ? "connect" : response.ok ? null : "status",
    request_head: `POST ${url} HTTP/1.1\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\r\n")}`
  }
}

/** Records any number of outcomes in one statement. */
export const makeRecorder = (databaseUrl: string) => {
  const sql = postgres(databaseUrl, { max: 16, onnotice: () => {} })
  return async (outcomes: ReadonlyArray<Outcome>) => {
    await sql`
      WITH r AS (
        SELECT * FROM jsonb_to_recordset(${JSON.stringify(outcomes)}::text::jsonb) AS r (id uuid, ok boolean,
          started_at timestamptz, duration_ms integer, response_status integer, failure text, request_head text)
      ), d AS (
        UPDATE webhook_deliveries d SET attempts = d.attempts + 1, status = CASE WHEN r.ok THEN 'delivered' ELSE d.status END,
          due_at = CASE WHEN r.ok THEN NULL ELSE d.due_at END, finished_at = CASE WHEN r.ok THEN now() END
        FROM r WHERE d.id = r.id RETURNING d.id, d.attempts
      )
      INSERT INTO webhook_attempts
        (delivery_id, number, started_at, duration_ms, response_status, failure, request_head)
      SELECT id, d.attempts, r.started_at, r.duration_ms, r.response_status, r.failure, r.request_head
      FROM d JOIN r USING (id)`
  }
}
