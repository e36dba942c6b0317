// Sums of past days: equal to a fresh count after every change of an old row, and exact during concurrent changes.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { signUp } from "../../dashboard/person.ts"
import { serviceForFile } from "../../support/forFile.ts"

setDefaultTimeout(120_000)

const service = await serviceForFile()
const person = await signUp(service.baseUrl)
const seed = Number(process.env["DAY_SUMS_SEED"] ?? Math.floor(Math.random() * 1e6))
let state = seed
const draw = (below: number) => {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((state / 2 ** 31) * below)
}
const run = <A, E>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.provideContext(Effect.flatMap(SqlClient.SqlClient, statement), service.context).pipe(Effect.orDie)
  )
const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))
const wallet = Buffer.from(person.receiver.slice(2), "hex")
const merchant = person.merchantId
/** In the three days before yesterday. */
const instant = () => new Date(Date.now() - (2 + 3 * Math.random()) * 86_400_000)
const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
const period = `from=${day(6)}&to=${day(0)}`

const shown = async () => {
  const get = async (path: string) => {
    const { body, status } = await person.call("GET", `/merchants/${merchant}/test${path}`)
    if (status !== 200) throw new Error(`${path}: ${status}`)
    return body
  }
  const { days, conversion, failed, refunded, secondsToSettle, settled, webhooks } = await get(
    `/overview?${period}`
  )
  const { statement } = await get(`/books?${period}`)
  return { days, conversion, failed, refunded, secondsToSettle, settled, webhooks, statement }
}

const addPayment = (sql: SqlClient.SqlClient) => {
  const at = instant()
  return sql`
    INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
    VALUES (gen_random_uuid(), ${merchant}, 'test', 'pending', ${1_000_000 + draw(9_000_000)}::numeric,
      'PAY-' || upper(substr(md5(${at.toISOString()} || random()), 1, 8)), 'https://shop.example.com/1', ${wallet}, 'human', ${at})`
}
const addTransfer = (table: "incoming_transfers" | "outgoing_transfers") => (sql: SqlClient.SqlClient) => {
  const isIncoming = table === "incoming_transfers"
  return sql`
    INSERT INTO ${sql(table)} ${sql.literal(
      isIncoming
        ? "(id, chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env, block_number, block_hash, block_time, created_at)"
        : "(chain_id, transaction_id, payer, receiver, amount, ordinal, merchant_id, env, block_number, block_hash, block_time)"
    )}
    SELECT ${sql.literal(isIncoming ? "gen_random_uuid()," : "")} 84532, ${bytes(32)}::bytea, ${isIncoming ? bytes(20) : wallet}::bytea,
      ${isIncoming ? wallet : bytes(20)}::bytea, ${1 + draw(9_000_000)}::numeric, 0, ${merchant}::uuid, 'test', 1, ${bytes(32)}::bytea,
      ${instant()}::timestamptz ${sql.literal(isIncoming ? ", now()" : "")}`
}
const keyOf = (table: string) => (table === "outgoing_transfers" ? "transaction_id" : "id")
const some = (sql: SqlClient.SqlClient, table: string, where: string) =>
  sql`SELECT ${sql(keyOf(table))} FROM ${sql(table)} WHERE merchant_id = ${merchant} AND ${sql.literal(where)} ORDER BY random() LIMIT 1`

/** Each changes an old row as the service, or the chain, may. */
const changes: ReadonlyArray<(sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>> = [
  addPayment,
  addTransfer("incoming_transfers"),
  addTransfer("outgoing_transfers"),
  (sql) => sql`
    UPDATE payments SET status = 'settled', settled_at = created_at + interval '1 minute', failed_at = NULL, failure_reason = NULL,
      reported_at = created_at, transaction_id = decode(md5(id::text) || md5(id::text), 'hex'), payer_address = ${bytes(20)}::bytea,
      token_changes = '[]' WHERE id IN (${some(sql, "payments", "status <> 'settled'")})`,
  (sql) => sql`
    UPDATE payments SET status = 'failed', failed_at = created_at + interval '1 hour', failure_reason = 'expired'
    WHERE id IN (${some(sql, "payments", "status = 'pending'")})`,
  (sql) => sql`
    INSERT INTO claimed_transfers (chain_id, transaction_id, log_position, payment_id, block_number, block_hash, payer, receiver, amount, ordinal, watch_at)
    SELECT 84532, transaction_id, 0, id, 1, transaction_id, payer_address, receiver, amount, 0, now() + interval '1 day' FROM payments
    WHERE id IN (${some(sql, "payments", "status = 'settled'")}) ON CONFLICT DO NOTHING`,
  (sql) => sql`
    UPDATE claimed_transfers SET dropped_at = CASE WHEN dropped_at IS NULL THEN now() END
    WHERE payment_id IN (SELECT id FROM payments WHERE id IN (${some(sql, "payments", "status = 'settled'")}))`,
  (sql) => sql`
    UPDATE incoming_transfers SET handled_at = now(), handled_by = 'a person'
    WHERE id IN (${some(sql, "incoming_transfers", "payment_id IS NULL AND handled_at IS NULL AND dropped_at IS NULL")})`,
  (sql) => sql`
    UPDATE incoming_transfers SET dropped_at = CASE WHEN dropped_at IS NULL THEN now() END
    WHERE id IN (${some(sql, "incoming_transfers", "payment_id IS NULL")})`,
  (sql) => sql`
    UPDATE outgoing_transfers SET dropped_at = CASE WHEN dropped_at IS NULL THEN now() END
    WHERE transaction_id IN (${some(sql, "outgoing_transfers", "true")})`,
  // A refund, proven by an outgoing transfer that the books already had.
  (sql) =>
    Effect.andThen(
      sql`
        WITH moved AS (
          SELECT * FROM outgoing_transfers WHERE transaction_id IN (${some(sql, "outgoing_transfers", "dropped_at IS NULL")})
        ), refund AS (
          INSERT INTO refunds (id, merchant_id, env, payment_id, amount, recipient, since_block, beyond_paid, created_by,
            created_at, status, transaction_id, sender, ordinal, block_number, block_hash)
          SELECT gen_random_uuid(), ${merchant}::uuid, 'test', p.id, m.amount, m.receiver, 1, true, 'a person',
            m.block_time, 'pending', m.transaction_id, m.payer, 0, 1, m.block_hash
          FROM moved m, (SELECT id FROM payments WHERE id IN (${some(sql, "payments", "true")})) p
          WHERE NOT EXISTS (SELECT FROM claimed_transfers c WHERE c.transaction_id = m.transaction_id) RETURNING *
        )
        INSERT INTO claimed_transfers
          (chain_id, transaction_id, log_position, refund_id, block_number, block_hash, payer, receiver, amount, ordinal)
        SELECT 84532, transaction_id, 0, id, 1, block_hash, sender, recipient, amount, 0 FROM refund`,
      sql`UPDATE refunds SET status = 'proven', proven_at = created_at WHERE merchant_id = ${merchant} AND status = 'pending'`
    ),
  (sql) => sql`
    UPDATE refunds SET dropped_at = CASE WHEN dropped_at IS NULL THEN now() END
    WHERE id IN (${some(sql, "refunds", "status = 'proven'")})`,
  (sql) => sql`
    INSERT INTO webhook_deliveries (id, merchant_id, env, type, body, status, attempts, created_at, finished_at)
    SELECT gen_random_uuid(), ${merchant}::uuid, 'test', 'test', '{}', 'cancelled', 1, ${instant()}::timestamptz, now()`,
  (sql) => sql`
    UPDATE webhook_deliveries SET status = CASE WHEN random() < 0.5 THEN 'failed' ELSE 'delivered' END
    WHERE id IN (${some(sql, "webhook_deliveries", "status <> 'pending'")})`
]

test(`figures equal a fresh count, whatever changed in old rows (DAY_SUMS_SEED=${seed})`, async () => {
  // Rows that the service adds are of today; these are of the past.
  const fresh = () => run((sql) => sql`DELETE FROM day_sums WHERE merchant_id = ${merchant}`)
  for (let index = 0; index < 30; index++)
    for (const add of [addPayment, ...changes.slice(1, 3)]) await run(add)
  for (let round = 0; round < 60; round++) {
    await shown()
    const added = await run(
      (sql) => sql`SELECT count(*) AS count FROM payments WHERE merchant_id = ${merchant}`
    )
    for (let count = 0; count < 1 + draw(3); count++)
      await run(changes[1 + draw(changes.length - 1)] ?? addPayment)
    expect(
      await run((sql) => sql`SELECT count(*) AS count FROM payments WHERE merchant_id = ${merchant}`)
    ).toEqual(added)
    const figures = await shown()
    await fresh()
    expect([round, figures]).toEqual([round, await shown()])
  }
  expect((await shown()).settled.count).toBeGreaterThan(0)
  const stored = await run(
    (sql) => sql`SELECT DISTINCT kind FROM day_sums WHERE merchant_id = ${merchant} ORDER BY kind`
  )
  expect(stored).toEqual([{ kind: "overview" }, { kind: "transfers" }])
})

test("a concurrent change is waited for, and one that arrives during the count is not lost", async () => {
  const add = addTransfer("incoming_transfers")
  const before = (await shown()).statement
  await run((sql) => sql`DELETE FROM day_sums WHERE merchant_id = ${merchant}`)
  let asked: ReturnType<typeof shown> | undefined
  await run((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* add(sql)
        asked = shown()
        yield* Effect.sleep("700 millis")
      })
    )
  )
  const open = async (read: ReturnType<typeof shown> | undefined) => (await read)?.statement.unexplained.count
  expect(await open(asked)).toBe(before.unexplained.count + 1)
  for (let round = 0; round < 10; round++) {
    await run((sql) => sql`DELETE FROM day_sums WHERE merchant_id = ${merchant}`)
    await Promise.all([shown(), run(add), shown(), run(add)])
  }
  expect(await open(shown())).toBe(before.unexplained.count + 21)
})
