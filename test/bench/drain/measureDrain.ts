// `bun run bench drain`: how fast due deliveries to one receiver are sent and recorded, by the
// service's worker and by two job queues, in turn, several rounds.
import { Effect, Redacted } from "effect"
import { settledEvent } from "../../../src/domain/Webhook.ts"
import { signatureHeaders } from "../../../src/webhooks/Signature.ts"
import { tokenChanges } from "../dataset.ts"
import { watchMemory } from "../memory.ts"
import { startPostgres } from "../postgres.ts"
import type { Received } from "../receiver.ts"
import { type Receiver, startReceiver } from "../receiving.ts"
import { settings } from "../settings.ts"
import { type Contender, type ContenderName, makeContenders } from "./contenders.ts"

export interface DrainResult {
  readonly deliveries: number
  /** By contender: what it ran with, and deliveries a second of each round. */
  readonly contenders: ReadonlyArray<{
    readonly name: ContenderName
    readonly settings: object
    readonly perSecond: ReadonlyArray<number>
    readonly peakMegabytes: number
  }>
}

const timeoutMillis = 120_000

const makeJobs = (url: string) =>
  Array.from({ length: settings.drain }, () => {
    const id = Bun.randomUUIDv7()
    const transactionId = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`
    const body = Buffer.from(settledEvent({ id, livemode: false, transactionId, tokenChanges })).toString()
    return { id, url, body }
  })

/** @throws Error where a delivery came not at all or twice, or one of the first without its body or signatures. */
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

/** Deliveries a second, from the first message at the receiver until every outcome is recorded and the queue is empty. */
const drainOnce = async (contender: Contender, to: Receiver): Promise<number> => {
  const { sql, name } = contender
  const jobs = makeJobs(to.hook)
  await to.reset()
  await contender.tidy()
  await sql`
    INSERT INTO webhook_deliveries (id, merchant_id, env, endpoint_id, type, body, status, due_at, created_at)
    SELECT (job ->> 'id')::uuid, ${contender.merchantId}::uuid, 'test', ${contender.endpointId}::uuid, 'payment.settled',
      convert_to(job ->> 'body', 'UTF8'), 'pending', now(), now()
    FROM json_array_elements(${JSON.stringify(jobs)}::text::json) AS job`
  await contender.enqueue(jobs)
  await to.untilReceived(settings.drain, timeoutMillis)
  const deadline = performance.now() + timeoutMillis
  while (!(await contender.idle())) {
    if (performance.now() > deadline) throw new Error(`${name} does not come to an end`)
    await Bun.sleep(5)
  }
  const end = performance.timeOrigin + performance.now()
  const received = await to.state()
  checkReceived(contender, received, new Map(jobs.map(({ id, body }) => [id, body])))
  const [row] = await sql`
    SELECT count(*)::int AS recorded FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
    WHERE d.status = 'delivered' AND d.attempts = 1 AND a.number = 1 AND a.response_status = 204
      AND a.duration_ms IS NOT NULL AND a.request_head IS NOT NULL`
  if (row.recorded !== settings.drain)
    throw new Error(`${name}: ${row.recorded} outcomes of ${settings.drain}`)
  return settings.drain / ((end - (received.firstAt ?? Number.NaN)) / 1000)
}

const told = (name: string, what: string, perSecond: number) =>
  console.log(`drain  ${what.padEnd(9)} ${name.padEnd(16)} ${perSecond.toFixed(0).padStart(6)}/s`)

/** The candidate that drains fastest; each runs warm. */
const choose = Effect.fnUntraced(function* (contender: Contender, to: Receiver) {
  let best = { settings: contender.candidates[0] ?? {}, perSecond: 0 }
  if (contender.candidates.length === 1) return best.settings
  for (const candidate of contender.candidates) {
    const perSecond = yield* Effect.scoped(
      Effect.flatMap(contender.start(candidate), () =>
        Effect.promise(async () => {
          await drainOnce(contender, to)
          return drainOnce(contender, to)
        })
      )
    )
    told(`${contender.name} ${JSON.stringify(candidate)}`, "tried", perSecond)
    if (perSecond > best.perSecond) best = { settings: candidate, perSecond }
  }
  return best.settings
})

export const measureDrain = Effect.gen(function* () {
  const { url } = yield* startPostgres()
  const to = yield* startReceiver
  const contenders = yield* makeContenders(url, to)
  const chosen = new Map<Contender, object>()
  for (const contender of contenders) chosen.set(contender, yield* choose(contender, to))
  const running = yield* Effect.forEach(contenders, (contender) =>
    Effect.map(contender.start(chosen.get(contender) ?? {}), ({ pid }) => ({ contender, pid, peak: 0 }))
  )
  const perSecond = new Map<ContenderName, Array<number>>()
  const peaks = new Map<ContenderName, number>()
  yield* Effect.promise(async () => {
    for (let round = 0; round <= settings.rounds; round++) {
      for (let turn = 0; turn < running.length; turn++) {
        const one = running[(turn + round) % running.length]
        if (one === undefined) continue
        const { name } = one.contender
        const memory = watchMemory(one.pid)
        const rate = await drainOnce(one.contender, to)
        peaks.set(name, Math.max(peaks.get(name) ?? 0, memory.stop()))
        told(name, round === 0 ? "warm-up" : `round ${round}`, rate)
        if (round > 0) perSecond.set(name, [...(perSecond.get(name) ?? []), rate])
      }
    }
  })
  const result: DrainResult = {
    deliveries: settings.drain,
    contenders: contenders.map((contender) => ({
      name: contender.name,
      settings: chosen.get(contender) ?? {},
      perSecond: perSecond.get(contender.name) ?? [],
      peakMegabytes: peaks.get(contender.name) ?? Number.NaN
    }))
  }
  return result
})
