// Waits until the service has nothing left to do, with later checks brought forward. Returns the queue that does not
// become empty, if any.
import type { Hex } from "viem"
import { moneyNetwork } from "../../support/moneyNetwork.ts"
import { until } from "../../x402/payloads.ts"
import type { LivesWorld } from "./livesWorld.ts"
import type { LivesRecord } from "./record.ts"

const forward = [
  "UPDATE claimed_transfers SET watch_at = now() WHERE watch_at IS NOT NULL",
  "UPDATE refunds SET next_look_at = now() WHERE next_look_at IS NOT NULL",
  "UPDATE incoming_transfers SET match_at = now() WHERE match_at IS NOT NULL",
  "UPDATE x402_settlements SET next_look_at = now() WHERE next_look_at IS NOT NULL",
  // A delivery with a claim is being sent; it must not be sent twice.
  "UPDATE webhook_deliveries SET due_at = now() WHERE due_at IS NOT NULL AND claim_id IS NULL"
]

/** The queues, by name. */
const left = {
  "transfers to match": "SELECT 1 FROM incoming_transfers WHERE match_at IS NOT NULL AND dropped_at IS NULL",
  "claims to watch": "SELECT 1 FROM claimed_transfers WHERE watch_at IS NOT NULL AND dropped_at IS NULL",
  "refunds to watch":
    "SELECT 1 FROM refunds WHERE status = 'proven' AND dropped_at IS NULL AND next_look_at IS NOT NULL",
  settlements: "SELECT 1 FROM x402_settlements WHERE status = 'pending'",
  deliveries: "SELECT 1 FROM webhook_deliveries WHERE due_at IS NOT NULL",
  "transactions of the relaying wallet": "SELECT 1 FROM wallet_transactions WHERE outcome IS NULL",
  "costs of relaying":
    "SELECT 1 FROM wallet_transactions WHERE transaction_id IS NOT NULL AND spent_wei IS NULL"
}

const hex = (hash: Hex) => `'\\x${hash.slice(2)}'`

export const untilAtRest = async (
  { livesChain, rows }: LivesWorld,
  record: LivesRecord,
  mine: (count: number) => Promise<void>
) => {
  const head = Number(await livesChain.height())
  await until(async () => {
    const [cursor] = await rows("SELECT max(block_number)::int AS height FROM chain_cursors")
    return Number(cursor?.["height"]) >= head - moneyNetwork.confirmations
  }, 60_000)
  // Each report is checked once more.
  await rows("UPDATE payment_reports SET next_check_at = now(), checks = 0 WHERE next_check_at IS NOT NULL")
  let what = ""
  const isAtRest = async () => {
    for (const [name, query] of Object.entries(left)) {
      what = name
      if ((await rows(query)).length > 0) return false
    }
    what = "reports"
    const unchecked = "SELECT 1 FROM payment_reports WHERE next_check_at IS NOT NULL AND checks = 0 LIMIT 1"
    if ((await rows(unchecked)).length > 0) return false
    what = "refunds to find"
    for (const { hash, id } of record.refunds.values()) {
      if (!(await livesChain.isMined(hash))) continue
      const pending = `SELECT 1 FROM refunds WHERE id = '${id}' AND status = 'pending'`
      if ((await rows(pending)).length > 0) return false
      const unread = `SELECT 1 FROM outgoing_transfers WHERE transaction_id = ${hex(hash)} AND dropped_at IS NULL`
      if ((await rows(unread)).length === 0) return false
    }
    return true
  }
  const end = Date.now() + 90_000 + moneyNetwork.pollMillis.idle
  for (let looks = 0; looks === 0 || !(await isAtRest()); looks++) {
    // Checks under way start over, so this is seldom enough for a whole batch to end.
    if (looks % 5 === 0) for (const statement of forward) await rows(statement)
    if (Date.now() > end) return `the service does not come to rest: ${what}`
    // Transactions that the service has just sent become final too.
    await mine(5)
    await Bun.sleep(1_500)
  }
  return undefined
}
