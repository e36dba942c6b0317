// `bun run bench growth`: the same requests, claims and matches with 1,000 payments and with many more, over 200
// merchants, each size in its own database, in turn.
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { parseAddress } from "../../src/chain/Address.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import { MerchantId } from "../../src/domain/Merchant.ts"
import { networks } from "../../src/domain/networks.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import type { IncomingTransfer } from "../../src/payments/TransferRepo/TransferStore.ts"
import { TransferRepo } from "../../src/payments/TransferRepo.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { signUp } from "../dashboard/person.ts"
import { spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { startPostgres } from "./postgres.ts"
import { built, serviceEnv } from "./servers.ts"
import { settings } from "./settings.ts"
import { median, ratios, type Spread } from "./statistics.ts"

export interface GrowthResult {
  readonly sizes: ReadonlyArray<number>
  readonly requests: ReadonlyArray<{
    readonly name: string
    /** Median milliseconds of a request, one at a time, by size. */
    readonly millis: ReadonlyArray<number>
    /** The largest size compared with the smallest, computed for each round. */
    readonly ratio: Spread
  }>
}

const { chainId, usdc } = networks.test
const merchants = 200
/** In the smallest size, nearly all of the merchant's rows of a year; in the largest, those of some days. */
const exportedRows = 400
const samples = 200
const sizes = [1_000, Math.max(1_000, settings.growth / 10), Math.max(1_000, settings.growth)]

/** Tables that grow with payments. */
const grown = [
  "incoming_transfers",
  "api_keys",
  "payments",
  "payment_reports",
  "webhook_deliveries",
  "webhook_attempts",
  "claimed_transfers",
  "payment_attempts",
  "x402_settlements"
]

/** A UUID v7 of the time `at`, as the service's ids are; `n` makes it unique. */
const idAt = (at: string, n: string) =>
  `(lpad(to_hex((extract(epoch FROM ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${n}), 1, 3) || '8' || substr(md5(${n}), 4, 15))::uuid`

/** Runs `work` without the indexes that no constraint needs, and rebuilds them once the rows are in. */
export const withoutIndexes = async (sql: SQL, work: () => Promise<void>) => {
  const indexes = await sql`
    SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
    WHERE indrelid::regclass::text = ANY (string_to_array(${grown.join(",")}, ','))
      AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)`
  for (const { name } of indexes) await sql.unsafe(`DROP INDEX ${name}`)
  await work()
  await sql.unsafe("SET maintenance_work_mem = '512MB'")
  for (const { definition } of indexes) await sql.unsafe(definition)
}

/**
 * A year of payments, every `every`th of the one merchant's, nine in ten settled and delivered. Those of the last day
 * may be pending.
 */
export const fill = async (sql: SQL, merchantId: string, size: number, every: number) => {
  await sql.unsafe("SET session_replication_role = replica")
  await sql.unsafe("SET synchronous_commit = off")
  await sql.unsafe(`
    INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
    SELECT gen_random_uuid(), 'M' || n, receiver_test, receiver_live, now()
    FROM generate_series(1, ${merchants - 1}) AS n, merchants WHERE merchants.id = '${merchantId}'`)
  await sql.unsafe(`
    INSERT INTO api_keys (id, merchant_id, kind, env, permission, hash, prefix, last_four, created_at)
    SELECT gen_random_uuid(), id, 'secret', 'test', 'manage', decode(md5(id::text || n) || md5(n || name), 'hex'), 'sk_test_', 'last', now()
    FROM merchants, generate_series(1, 4) AS n WHERE id <> '${merchantId}'`)
  await sql.unsafe(`
    INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at,
      reported_at, transaction_id, payer_address, token_changes, settled_at, failed_at, failure_reason)
    SELECT ${idAt("s.at", "n::text")},
      CASE WHEN n % ${every} = 0 THEN '${merchantId}'::uuid ELSE others.ids[1 + n % ${merchants - 1}] END,
      'test', s.status, 1000000 + n, 'PAY-' || upper(lpad(to_hex(n), 8, '0')), 'https://shop.example.com/orders/' || n,
      decode(repeat('ab', 20), 'hex'), 'human', s.at,
      CASE s.status WHEN 'settled' THEN s.at END,
      CASE s.status WHEN 'settled' THEN decode(md5(n::text) || md5('x' || n), 'hex') END,
      CASE s.status WHEN 'settled' THEN decode(md5(n::text) || 'abababab', 'hex') END,
      CASE s.status WHEN 'settled' THEN '[]'::jsonb END,
      CASE s.status WHEN 'settled' THEN s.at END,
      CASE s.status WHEN 'failed' THEN s.at END,
      CASE s.status WHEN 'failed' THEN 'expired' END
    FROM (
      SELECT n,
        CASE WHEN n / ${every} % 20 > 1 THEN 'settled' WHEN n / ${every} % 20 = 1 OR n < ${size - size / 365} THEN 'failed'
          ELSE 'pending' END AS status,
        now() - (${size} - n) * (interval '365 days' / ${size}) AS at
      FROM generate_series(1, ${size}) AS n
    ) s, (SELECT array_agg(id ORDER BY id) AS ids FROM merchants WHERE id <> '${merchantId}') AS others`)
  await sql.unsafe(`
    INSERT INTO claimed_transfers
      (chain_id, transaction_id, log_position, payer, receiver, amount, ordinal, payment_id, block_number, block_hash)
    SELECT 84532, transaction_id, 0, payer_address, receiver, amount, 0, id, 1, transaction_id
    FROM payments WHERE status = 'settled'`)
  await sql.unsafe(`
    INSERT INTO incoming_transfers (id, chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env,
      block_number, block_hash, block_time, payment_id, created_at)
    SELECT ${idAt("settled_at", "'t' || id")}, ${chainId}, transaction_id, payer_address, receiver, amount, 0, merchant_id,
      env, 1, transaction_id, settled_at, id, settled_at FROM payments WHERE status = 'settled'`)
  await sql.unsafe(`
    INSERT INTO payment_attempts (id, payment_id, payer_address, method, block_number, announced_at, closed_at, closed_reason)
    SELECT ${idAt("created_at", "'a' || id")}, id, payer_address, 'transfer', 1, created_at, settled_at, 'nonce_used'
    FROM payments WHERE status = 'settled' AND amount % 10 = 0`)
  await sql.unsafe(`
    INSERT INTO x402_settlements (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce, receiver,
      amount, valid_after, valid_before, signature, resource, status, transaction_id, created_at, finished_at)
    SELECT ${idAt("created_at", "'s' || id")}, merchant_id, env, id, true, ${chainId}, decode('${usdc.address.slice(2)}', 'hex'),
      payer_address, transaction_id, receiver, amount, 0, 4000000000, '\\x', '', 'settled', transaction_id, created_at, settled_at
    FROM payments WHERE status = 'settled' AND amount % 10 = 1`)
  await sql.unsafe(`
    INSERT INTO payment_reports
      (payment_id, evidence, payer_address, transaction_id, token_changes, reported_at)
    SELECT id, decode(md5(id::text) || md5('x' || id), 'hex'), receiver, decode(md5('y' || id) || md5(id::text), 'hex'),
      '[]', created_at FROM payments WHERE status = 'pending'`)
  await sql.unsafe(`
    INSERT INTO webhook_deliveries
      (id, merchant_id, env, payment_id, type, body, status, attempts, created_at, finished_at)
    SELECT ${idAt("settled_at", "'d' || id")}, merchant_id, env, id, 'payment.settled', '{}', 'delivered', 1, settled_at, settled_at
    FROM payments WHERE status = 'settled'`)
  await sql.unsafe(`
    INSERT INTO webhook_attempts (delivery_id, number, started_at, duration_ms, response_status)
    SELECT id, 1, created_at, 12, 200 FROM webhook_deliveries`)
}

interface Asked {
  readonly name: string
  readonly ask: () => Promise<unknown>
  /** The fraction of its time that counts. */
  readonly share: number
}

/** Deliveries of the one merchant that are due tomorrow: its service ignores them today. */
const dueTomorrow = 100
const dueAt = new Date(Date.now() + 86_400_000)

const addDue = async (sql: SQL, merchantId: string) => {
  await sql.unsafe(`
    INSERT INTO webhook_endpoints (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four,
      listening, verified_at, created_at, updated_at)
    VALUES ('${merchantId}', '${merchantId}', 'test', 'https://shop.example.com/hook', 'bench', '\\x00', 'last',
      true, now(), now(), now())`)
  await sql.unsafe(`
    INSERT INTO webhook_deliveries
      (id, merchant_id, env, endpoint_id, type, body, status, attempts, created_at, due_at)
    SELECT gen_random_uuid(), '${merchantId}', 'test', '${merchantId}', 'test', '{}', 'pending', 0, now(),
      '${dueAt.toISOString()}'
    FROM generate_series(1, ${dueTomorrow})`)
}

/** Leases the deliveries that are due at an instant, as a worker does, and releases them. */
const leasing = Effect.fnUntraced(function* (url: string, at: Date, expected: number) {
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }).pipe(Layer.orDie)
  const context = yield* Layer.build(WebhookRepo.layer.pipe(Layer.provide(client)))
  const repo = Context.get(context, WebhookRepo)
  return async () => {
    const leased = await Effect.runPromise(
      repo.leaseDue({
        at,
        leaseUntil: new Date(at.getTime() + 30_000),
        leaseId: crypto.randomUUID(),
        leasedBy: crypto.randomUUID(),
        limit: 256,
        limitUnproven: 256,
        perEndpoint: 128,
        capacities: [],
        queueStarts: []
      })
    )
    if (leased.length !== expected) throw new Error(`${leased.length} were leased, not ${expected}`)
    if (expected > 0) await Effect.runPromise(repo.release(leased, dueAt))
  }
})

/** Matches a transfer of a wallet that has paid before: it pays nothing, and its likely payments are searched for. */
const matching = Effect.fnUntraced(function* (url: string, merchantId: MerchantId) {
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }).pipe(Layer.orDie)
  const context = yield* Layer.build(
    Layer.merge(PaymentRepo.layer, TransferRepo.layer).pipe(
      Layer.provide(client),
      Layer.provide(SecureRandom.layerWebCrypto)
    )
  )
  const repo = Context.get(context, PaymentRepo)
  const transferRepo = Context.get(context, TransferRepo)
  const page = Option.getOrThrow(
    yield* repo.list({ merchantId, env: "test" }, { limit: 100, startingAfter: undefined })
  )
  const paid = page.payments.find(({ status }) => status === "settled")
  const receiver = parseAddress(`0x${"ab".repeat(20)}`)
  if (paid === undefined || paid.reported === null || receiver === undefined)
    throw new Error("no payment has settled")
  const unknown = TransactionHash.make(`0x${"77".repeat(32)}`)
  const transfer: IncomingTransfer = {
    ...{ id: Bun.randomUUIDv7(), merchantId, env: "test", transactionId: unknown, ordinal: 0 },
    ...{ payer: paid.reported.evidence.payer, receiver, amount: paid.amount },
    ...{ blockNumber: 1n, blockHash: unknown, blockTime: new Date(), storedAt: new Date() },
    ...{ kind: null, paymentId: null, droppedAt: null, handledAt: null, handledBy: null, note: null }
  }
  return async () => {
    if (await Effect.runPromise(transferRepo.awaitsSettlement(transfer)))
      throw new Error("it is being settled")
    const matches = await Effect.runPromise(transferRepo.matchesOf(transfer))
    const likely = await Effect.runPromise(transferRepo.likelyPayments(transfer))
    if (matches.length > 0 || likely.length !== 1)
      throw new Error(`${matches.length} matches, ${likely.length} likely payments`)
  }
})

/** A service on a filled database, and the measured requests. */
const makeWorld = Effect.fnUntraced(function* (adminUrl: string, size: number, index: number) {
  const url = new URL(adminUrl)
  url.pathname = `/growth${index}`
  yield* Effect.promise(async () => {
    const admin = new SQL(adminUrl, { max: 1 })
    await admin.unsafe(`CREATE DATABASE growth${index}`)
    await admin.close()
  })
  const directory = yield* temporaryDirectory
  const service = yield* spawnService({ ...serviceEnv, DATABASE_URL: url.href, DATA_DIR: directory }, built)
  yield* untilReady(service)
  const get = async (path: string, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(service.baseUrl + path, { headers })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  const person = yield* Effect.promise(() => signUp(service.baseUrl))
  const asked = yield* Effect.promise(async (): Promise<ReadonlyArray<Asked>> => {
    const sql = new SQL(url.href, { max: 1 })
    await withoutIndexes(sql, () =>
      fill(sql, person.merchantId, size, Math.floor(size / Math.max(500, size / merchants)))
    )
    await addDue(sql, person.merchantId)
    await sql.unsafe("VACUUM ANALYZE")
    // Whole days, because the number of payments in a partial day depends on the time of day.
    const [exported] = await sql`
      WITH settled AS (
        SELECT date_trunc('day', settled_at AT TIME ZONE 'UTC') AS day FROM payments
        WHERE merchant_id = ${person.merchantId} AND status = 'settled'
      ), first AS (SELECT day FROM settled ORDER BY day DESC LIMIT 1 OFFSET ${exportedRows - 1})
      SELECT to_char(min(day), 'YYYY-MM-DD') AS day, count(*)::int AS rows FROM settled
      WHERE day >= (SELECT day FROM first)`
    const [middle] = await sql`
      SELECT id FROM payments WHERE merchant_id = ${person.merchantId} ORDER BY created_at DESC
      LIMIT 1 OFFSET (SELECT count(*) / 2 FROM payments WHERE merchant_id = ${person.merchantId})`
    await sql.close()
    console.log(`growth ${size.toLocaleString("en")} payments are in`)

    const key = { authorization: `Bearer ${person.keys.test.secret}` }
    const session = { cookie: person.cookie, "sec-fetch-site": "same-origin" }
    const page = (path: string) => `/dashboard/api/merchants/${person.merchantId}/test${path}`
    const settled = (await get(page("/payments?status=settled"), session)).payments.at(-1)
    const asking =
      (headers: Readonly<Record<string, string>>) =>
      (name: string, path: string, share = 1) => ({
        name,
        ask: () => get(path, headers),
        share
      })
    const byKey = asking(key)
    const byPerson = (name: string, path: string) => asking(session)(`dashboard: ${name}`, page(path))
    const today = new Date().toISOString().slice(0, 10)
    return [
      byKey("retrieve", `/api/v1/payments/${settled.id}`),
      byKey("list of 20", "/api/v1/payments"),
      byKey("page in the middle, by cursor", `/api/v1/payments?startingAfter=${middle.id}`),
      byKey(
        `export of some ${exportedRows} payments`,
        `/api/v1/exports/payments?from=${exported.day}&to=${today}&timeZone=UTC&format=json`,
        exportedRows / exported.rows
      ),
      byPerson("overview", "/overview"),
      byPerson("payments", "/payments"),
      byPerson("by transaction", `/payments?search=${settled.reportedTransactionId}`),
      byPerson("payment", `/payments/${settled.id}`)
    ]
  })
  const work: ReadonlyArray<Asked> = [
    { name: "claim without due deliveries", ask: yield* leasing(url.href, new Date(), 0), share: 1 },
    {
      name: `claim of ${dueTomorrow}, and giving them back`,
      ask: yield* leasing(url.href, new Date(dueAt.getTime() + 1), dueTomorrow),
      share: 1
    },
    {
      name: "match of a transfer that pays nothing",
      ask: yield* matching(url.href, MerchantId.make(person.merchantId)),
      share: 1
    }
  ]
  return [...asked, ...work]
})
type World = Effect.Success<ReturnType<typeof makeWorld>>

/** The median milliseconds of each world's request, in turn. */
const round = async (worlds: ReadonlyArray<World>, index: number) => {
  const times = worlds.map((): Array<number> => [])
  for (let sample = 0; sample < samples; sample++) {
    for (const [at, world] of worlds.entries()) {
      const request = world[index]
      if (request === undefined) continue
      const start = performance.now()
      await request.ask()
      times[at]?.push((performance.now() - start) * request.share)
    }
  }
  return times.map(median)
}

export const measureGrowth = Effect.gen(function* () {
  const databaseUrl = yield* startPostgres()
  const worlds = yield* Effect.forEach(sizes, (size, index) => makeWorld(databaseUrl, size, index))
  const requests: Array<GrowthResult["requests"][number]> = []
  yield* Effect.promise(async () => {
    for (const [index, { name }] of (worlds[0] ?? []).entries()) {
      await round(worlds, index)
      const rounds: Array<ReadonlyArray<number>> = []
      for (let count = 0; count < settings.rounds; count++) rounds.push(await round(worlds, index))
      const bySize = sizes.map((_, size) => rounds.map((one) => one[size] ?? Number.NaN))
      requests.push({ name, millis: bySize.map(median), ratio: ratios(bySize.at(-1) ?? [], bySize[0] ?? []) })
      console.log(`growth ${name}: ${bySize.map((times) => median(times).toFixed(2)).join(", ")} ms`)
    }
  })
  const result: GrowthResult = { sizes, requests }
  return result
})
