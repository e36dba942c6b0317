// The SQL of the faucet. Limits and nonces are taken together under the wallet's lock, and the outcome of the
// transactions decides the outcome of the grant.
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import type { Address } from "../../../domain/Chain.ts"
import { type FaucetLimit, faucetLimits } from "../../../domain/faucetLimits.ts"
import { plusMillis } from "../../../domain/plusMillis.ts"
import { toBytes } from "../../ChainBytes.ts"
import {
  type Entry,
  OutboxRepo,
  type OutgoingTransaction,
  type TransactionEnd
} from "../../wallets/OutboxRepo.ts"
import type { GrantRequest } from "./FaucetService.ts"
import { type BlockingLimit, longestWait } from "./limits.ts"

export type FaucetAsset = "usdc" | "gas"

export interface GrantReservation {
  readonly grantId: string
  readonly wallet: Address
  readonly request: GrantRequest
  readonly usdcAtomic: bigint
  readonly gasWei: bigint
  readonly at: Date
  /** The wallet's next nonce according to the chain. */
  readonly chainNonce: number
  /** The gas limit of each transaction. */
  readonly gasOf: (asset: FaucetAsset) => bigint
  /** The most wei that the gas of each costs. No budget counts it. */
  readonly weiOf: (asset: FaucetAsset) => bigint
  /** Signs locally; called inside the lock. */
  readonly sign: (asset: FaucetAsset, nonce: number) => Effect.Effect<Hex>
}

export type Reserved =
  | { readonly _tag: "Reserved"; readonly transactions: ReadonlyArray<OutgoingTransaction> }
  /** The wallet has signed a transaction that no node accepts, so nothing after it would be mined. */
  | { readonly _tag: "Blocked" }
  | ({ readonly _tag: "Limited" } & BlockingLimit)

const LimitRow = Schema.Struct({
  recipient: Schema.NullOr(Schema.Date),
  merchant: Schema.NullOr(Schema.Date),
  ip: Schema.NullOr(Schema.Date)
})
const decodeLimit = Schema.decodeUnknownEffect(LimitRow)

export class FaucetRepo extends Context.Service<
  FaucetRepo,
  {
    /** The limit that currently blocks a request, if any. Reserves nothing. */
    readonly checkLimits: (request: GrantRequest, at: Date) => Effect.Effect<BlockingLimit | undefined>
    /** Takes all three limits and the nonces in one step, or returns the limit that blocks and its wait. */
    readonly reserve: (reservation: GrantReservation) => Effect.Effect<Reserved>
    /**
     * Ends a transaction and updates its grant: `sent` once the USDC has moved, `gas_only` if only the gas has,
     * `returned` if neither did.
     */
    readonly end: (transaction: OutgoingTransaction, ended: TransactionEnd, at: Date) => Effect.Effect<void>
    /**
     * Returns a refused grant's place in the limits. If its gas was sent (`counted`), it still counts as `gas_only`.
     */
    readonly giveBack: (grantId: string, counted: boolean) => Effect.Effect<void>
  }
>()("quittance/chain/FaucetRepo") {
  static readonly layer: Layer.Layer<FaucetRepo, never, SqlClient.SqlClient | OutboxRepo> = Layer.effect(
    FaucetRepo,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const outbox = yield* OutboxRepo

      /** The grant that fills each limit: a place becomes free at the end of its window. */
      const blocking = (request: GrantRequest, at: Date) => {
        const since = (limit: FaucetLimit) => plusMillis(at, -faucetLimits[limit].windowMillis)
        const nth = (limit: FaucetLimit) => faucetLimits[limit].grants - 1
        return sql`
          SELECT
            (SELECT created_at FROM faucet_grants WHERE status <> 'returned'
              AND recipient = ${toBytes(request.recipient)} AND created_at > ${since("recipient")}
              ORDER BY created_at DESC OFFSET ${nth("recipient")} LIMIT 1) AS recipient,
            (SELECT created_at FROM faucet_grants WHERE status <> 'returned'
              AND merchant_id = ${request.merchantId} AND created_at > ${since("merchant")}
              ORDER BY created_at DESC OFFSET ${nth("merchant")} LIMIT 1) AS merchant,
            (SELECT created_at FROM faucet_grants WHERE status <> 'returned'
              AND client_address = ${request.clientAddress} AND created_at > ${since("ip")}
              ORDER BY created_at DESC OFFSET ${nth("ip")} LIMIT 1) AS ip`
      }

      const blockingLimitOf = Effect.fnUntraced(function* (request: GrantRequest, at: Date) {
        const row = yield* decodeLimit((yield* blocking(request, at))[0])
        return longestWait(row, at)
      })

      return FaucetRepo.of({
        checkLimits: Effect.fn("FaucetRepo.checkLimits")(blockingLimitOf, Effect.orDie),

        reserve: Effect.fn("FaucetRepo.reserve")(function* (reservation) {
          const { grantId, wallet, request, at } = reservation
          return yield* outbox.locked(
            wallet,
            Effect.gen(function* () {
              if (yield* outbox.blocked(wallet)) return { _tag: "Blocked" } as const
              const blockingLimit = yield* blockingLimitOf(request, at)
              if (blockingLimit !== undefined) return { _tag: "Limited", ...blockingLimit } as const
              yield* sql`
                INSERT INTO faucet_grants
                  (id, merchant_id, recipient, client_address, status, usdc_atomic, gas_wei, created_at)
                VALUES (${grantId}, ${request.merchantId}, ${toBytes(request.recipient)}, ${request.clientAddress},
                  'reserved', ${reservation.usdcAtomic.toString()}::numeric, ${reservation.gasWei.toString()}::numeric, ${at})`
              const entry = (asset: FaucetAsset): Entry => ({
                purpose: asset,
                reference: grantId,
                merchantId: null,
                payer: null,
                gas: reservation.gasOf(asset),
                wei: reservation.weiOf(asset),
                at,
                sign: (nonce) => reservation.sign(asset, nonce)
              })
              const transactions = yield* outbox.append(wallet, reservation.chainNonce, [
                entry("gas"),
                entry("usdc")
              ])
              return { _tag: "Reserved", transactions } as const
            })
          )
        }, Effect.orDie),

        end: Effect.fn("FaucetRepo.end")(function* (transaction, ended, at) {
          const grantId = transaction.reference
          yield* sql.withTransaction(
            Effect.gen(function* () {
              // Gas and USDC may end at once in two instances: the second sees what the first recorded.
              yield* sql`SELECT id FROM faucet_grants WHERE id = ${grantId} FOR UPDATE`
              yield* outbox.end(transaction, ended, at)
              yield* sql`
                UPDATE faucet_grants SET status = CASE
                  WHEN ended.usdc = 'moved' THEN 'sent'
                  WHEN ended.usdc = 'reverted' OR ended.gas IS DISTINCT FROM 'moved' THEN 'returned'
                  ELSE 'gas_only' END
                FROM (
                  SELECT
                    max(outcome) FILTER (WHERE purpose = 'usdc') AS usdc,
                    max(outcome) FILTER (WHERE purpose = 'gas') AS gas,
                    count(*) FILTER (WHERE purpose = 'usdc' AND outcome IS NULL) AS open
                  FROM wallet_transactions WHERE reference = ${grantId}
                ) AS ended
                WHERE id = ${grantId} AND ended.open = 0`
            })
          )
        }, Effect.orDie),

        giveBack: Effect.fn("FaucetRepo.giveBack")(function* (grantId, counted) {
          yield* sql`
            UPDATE faucet_grants SET status = ${counted ? "gas_only" : "returned"}
            WHERE id = ${grantId} AND status = 'reserved'`
        }, Effect.orDie)
      })
    })
  )
}
