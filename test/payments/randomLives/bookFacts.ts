// Reads each merchant's payments, events, refunds, exports and statement from the service's interface, and the claims
// and alerts from its database.
import { Schema } from "effect"
import { type Hex, parseUnits } from "viem"
import type { Answer } from "../../x402/x402World.ts"
import type { LivesWorld } from "./livesWorld.ts"

const Row = Schema.Record(Schema.String, Schema.NullOr(Schema.String))
const decodeExport = Schema.decodeUnknownSync(
  Schema.Struct({
    payments: Schema.optionalKey(Schema.Array(Row)),
    refunds: Schema.optionalKey(Schema.Array(Row)),
    transfers: Schema.optionalKey(Schema.Array(Row))
  })
)

export const atomicOf = (usd: string | null | undefined): bigint => parseUnits(usd ?? "", 6)

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const period = () => `from=${day(-1)}&to=${day(1)}&timeZone=UTC`

/** All pages of a list, by the id of the last of each. */
const allOf = async <A>(
  read: (after: string | undefined) => Promise<Answer>,
  of: (answer: Answer) => ReadonlyArray<A>,
  idOf: (row: A) => string
): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  while (true) {
    const last = all.at(-1)
    const answer = await read(last === undefined ? undefined : idOf(last))
    if (answer.status !== 200) throw new Error(`a list answers ${answer.status}`)
    all.push(...of(answer))
    if (!answer.body.hasMore) return all
  }
}

export const readBooks = async ({ call, merchants, rows }: LivesWorld) => {
  const ofMerchant = async (merchant: number) => {
    const get = (path: string) => call(merchant, "secret", "GET", path)
    const exported = async (what: "payments" | "refunds" | "transfers") =>
      decodeExport((await get(`/exports/${what}?${period()}&format=json`)).body)[what] ?? []
    const paged = (path: string, name: string) => (after: string | undefined) =>
      get(`${path}?limit=100${after === undefined ? "" : `&${name}=${after}`}`)
    const { body } = await get(`/statement?${period()}`)
    return {
      statement: body.statement,
      balances: body.balances,
      transfers: await exported("transfers"),
      exportedPayments: await exported("payments"),
      exportedRefunds: await exported("refunds"),
      payments: await allOf(
        paged("/payments", "startingAfter"),
        (answer) => answer.body.payments,
        ({ id }) => id
      ),
      refunds: await allOf(
        paged("/refunds", "startingAfter"),
        (answer) => answer.body.refunds,
        ({ id }) => id
      ),
      events: await allOf(
        paged("/events", "after"),
        (answer) => answer.body.events,
        ({ event }) => event.id
      )
    }
  }
  const claims = await rows(`
    SELECT payment_id, refund_id, '0x' || encode(transaction_id, 'hex') AS hash, '0x' || encode(payer, 'hex') AS payer,
      '0x' || encode(receiver, 'hex') AS receiver, amount::text AS amount, ordinal, dropped_at IS NOT NULL AS dropped
    FROM claimed_transfers`)
  const alerts = await rows("SELECT kind, subject, message FROM alerts WHERE acknowledged_at IS NULL")
  const relayed = await rows(`
    SELECT '0x' || encode(transaction_id, 'hex') AS hash, spent_wei::text AS wei FROM wallet_transactions
    WHERE transaction_id IS NOT NULL`)
  const text = (value: unknown) => (value === null ? undefined : String(value))
  return {
    merchants: await Promise.all(merchants.map((_, index) => ofMerchant(index))),
    claims: claims.map((claim) => ({
      paymentId: text(claim["payment_id"]),
      refundId: text(claim["refund_id"]),
      hash: `0x${String(claim["hash"]).slice(2)}` as Hex,
      payer: String(claim["payer"]),
      receiver: String(claim["receiver"]),
      amount: BigInt(String(claim["amount"])),
      ordinal: Number(claim["ordinal"]),
      isDropped: claim["dropped"] === true
    })),
    alerts: alerts.map(({ kind, message, subject }) => ({
      kind: String(kind),
      subject: String(subject),
      message: String(message)
    })),
    relayed: relayed.map(({ hash, wei }) => ({ hash: `0x${String(hash).slice(2)}` as Hex, wei: text(wei) }))
  }
}

export type BookFacts = Awaited<ReturnType<typeof readBooks>>
