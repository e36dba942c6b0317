// The nodes of one network are silent, with a backlog of work that waits for them: the other network's payments settle
// and are delivered as usual, and only the silent network's wait, and do not expire.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { toHex } from "viem"
import { envs, networks } from "../../src/domain/networks.ts"
import { until } from "../x402/payloads.ts"
import { otherOf, wallsWorld } from "./wallsWorld.ts"

setDefaultTimeout(240_000)

const walls = await wallsWorld({ PAYMENT_EXPIRY: "60s" })
const { buyer, keys, receiver, rows, world } = walls
const nodes = { test: [world.node], live: world.liveNodes }
const usd = 1_000_000n
/** The time limit for a network while the other is silent: a few seconds on a quiet machine. */
const promptMillis = 60_000

const backlog = 150
/** Copies of a row, each with its own values and hash. */
const copiesOf = (table: string, which: string, values: string, hash = "transaction_id") =>
  `INSERT INTO ${table} SELECT c.* FROM ${table} t CROSS JOIN generate_series(1, ${backlog}) n
    CROSS JOIN LATERAL jsonb_populate_record(t, jsonb_build_object(${values}
      '${hash}', '\\x' || md5(n || random()::text) || md5(random()::text))) c
    WHERE ${which}`

for (const silent of envs) {
  const working = otherOf(silent)
  test(`${networks[silent].name} is silent: ${networks[working].name} settles, delivers and expires`, async () => {
    await walls.transfer(silent, buyer, receiver, 11n * usd)
    const unmatched = `t.env = '${silent}' AND t.amount = ${11n * usd} AND t.kind IS NOT NULL`
    await until(
      async () => (await rows(`SELECT id FROM incoming_transfers t WHERE ${unmatched}`)).length > 0,
      60_000
    )
    const { payment: waiting } = await walls.open(silent, "4.00")
    const late = await walls.transfer(silent, buyer, receiver, 4n * usd)
    const { payment: reported } = await walls.open(silent, "12.00")
    await walls.report(silent, reported.id, toHex(crypto.getRandomValues(new Uint8Array(32))), 12n * usd)
    for (const node of nodes[silent]) node.behave(() => new Promise(() => {}))
    // More transfers to match and reports to check than one sweep takes, none of which can be decided.
    await rows(
      copiesOf("incoming_transfers", unmatched, "'id', gen_random_uuid(), 'kind', NULL, 'match_at', now(),")
    )
    const ofReported = `t.payment_id = '${reported.id}'`
    await rows(copiesOf("payment_reports", ofReported, "'next_check_at', now(), 'checks', 0,", "evidence"))
    await Bun.sleep(3_000)

    const { payment: unpaid } = await walls.open(working, "6.00")
    const { payment } = await walls.open(working, "5.00")
    const announced = await world.call(
      "POST",
      `/payments/${payment.id}/attempts`,
      keys[working].publishable,
      {
        buyerDidToken: await walls.tokenFor(payment.id),
        method: "transfer"
      }
    )
    expect(announced.status).toBe(201)
    const began = Date.now()
    const hash = await walls.transfer(working, buyer, receiver, 5n * usd)
    await walls.settled(working, payment.id, 200_000)
    const isDelivered = async () =>
      walls.delivered[working].some((one) => one.type === "payment.settled" && one.transactionId === hash)
    await until(isDelivered)
    expect(Date.now() - began).toBeLessThan(promptMillis)

    const told = () =>
      rows(
        "SELECT DISTINCT env, message FROM alerts WHERE kind = 'rpc_unreachable' AND acknowledged_at IS NULL"
      )
    await until(async () => (await told()).length > 0, 60_000)
    for (const { env, message } of await told()) {
      expect(env).toBe(silent)
      expect(message).toContain(`of ${networks[silent].name}: `)
    }

    const isFailed = async () => {
      // Payments expire by the time of the chain.
      await Effect.runPromise(world.chainOf(working).mine(1))
      return (await walls.payment(working, unpaid.id)).status === "failed"
    }
    await until(isFailed, 180_000)
    expect((await walls.payment(silent, waiting.id)).status).toBe("pending")
    for (const node of nodes[silent]) node.behave(() => undefined)
    expect((await walls.report(silent, waiting.id, late, 4n * usd)).status).toBeLessThan(300)
    await walls.settled(silent, waiting.id, 60_000)
    await rows("UPDATE alerts SET acknowledged_at = now() WHERE acknowledged_at IS NULL")
  })
}
