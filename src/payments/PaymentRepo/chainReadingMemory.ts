// How far the chain is read, and the transfers of each range, in this process: the same rules as on Postgres.
import { Effect, Option } from "effect"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Address, Env } from "../../domain/Chain.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import {
  type ChainCursor,
  type ChainReadingStore,
  type CursorLease,
  furthestEnd,
  type IncomingTransfer,
  returnedMillis
} from "../TransferStore.ts"

interface KeptCursor extends ChainCursor {
  readonly lease: { readonly id: string; readonly until: Date } | null
}

export interface KeptTransfer extends IncomingTransfer {
  readonly matchAt: Date | null
  readonly alerted: boolean
  readonly attachedTo: PaymentId | null
}

/** A transfer that left a receiver. */
export interface KeptOutgoing extends ChainTransfer, Tenant {
  readonly blockTime: Date
  readonly droppedAt: Date | null
}

/** Tells equal transfers apart, as their claims do. */
export const keyOf = (env: Env, one: Omit<ChainTransfer, "blockNumber" | "blockHash">) =>
  `${env} ${one.transactionId} ${one.payer} ${one.receiver} ${one.amount} ${one.ordinal}`

/** The transfers that were read, by their keys. */
export const makeChainReadingMemory = (known: {
  readonly payments: () => Iterable<Payment>
  readonly claimOf: (env: Env, transfer: ChainTransfer) => PaymentId | undefined
  /** Whose a transfer is: what a payment claims belongs to the payment's merchant. */
  readonly ownerOf: (paymentId: PaymentId | null, merchantId: MerchantId) => MerchantId
  /** What was given up as lost is watched again. */
  readonly watchAgain: (env: Env, transfer: ChainTransfer, at: Date) => void
  readonly transfers: Map<string, KeptTransfer>
  readonly outgoing: Map<string, KeptOutgoing>
}): ChainReadingStore => {
  const { outgoing, ownerOf, transfers } = known
  const cursors = new Map<Env, KeptCursor>()

  const move = (env: Env, lease: CursorLease, from: ChainCursor, to: ChainCursor) => {
    const cursor = cursors.get(env)
    if (cursor === undefined || cursor.lease?.id !== lease.id || cursor.blockHash !== from.blockHash)
      return false
    cursors.set(env, { ...to, lease })
    return true
  }

  return {
    cursor: (env) => Effect.sync(() => Option.fromUndefinedOr(cursors.get(env))),
    startCursor: (env, cursor) =>
      Effect.sync(() => {
        if (!cursors.has(env)) cursors.set(env, { ...cursor, lease: null })
      }),
    leaseCursor: (env, { at, id, until }) =>
      Effect.sync(() => {
        const cursor = cursors.get(env)
        if (cursor === undefined) return Option.none()
        const { lease: other } = cursor
        const isHeld = other !== null && other.until > at && other.until <= furthestEnd({ at, until })
        if (isHeld && other.id !== id) return Option.none()
        cursors.set(env, { ...cursor, lease: { id, until } })
        return Option.some(cursor)
      }),
    releaseCursor: (env, leaseId) =>
      Effect.sync(() => {
        const cursor = cursors.get(env)
        if (cursor?.lease?.id === leaseId) cursors.set(env, { ...cursor, lease: null })
      }),
    receiversAmong: (env, addresses) =>
      Effect.sync(() => {
        const wanted = new Set(addresses)
        const found = new Map<Address, { readonly merchantId: MerchantId; readonly since: Date }>()
        for (const { env: of, merchantId, receiver } of known.payments())
          if (of === env && wanted.has(receiver) && !found.has(receiver))
            found.set(receiver, { merchantId, since: new Date(0) })
        return found
      }),
    recordRange: ({ env, lease, from, outgoing: sent, to, transfers: seen }) =>
      Effect.sync(() => {
        if (!move(env, lease, from, to)) return false
        const lookAt = new Date(lease.at.getTime() + returnedMillis)
        for (const one of [...seen, ...sent]) known.watchAgain(env, one, lookAt)
        for (const [key, one] of transfers) {
          if (one.env !== env || one.droppedAt !== null) continue
          if (one.blockNumber <= from.blockNumber || one.blockNumber > to.blockNumber) continue
          transfers.set(key, { ...one, droppedAt: lease.at, matchAt: null })
        }
        for (const [key, one] of outgoing) {
          if (one.env !== env || one.droppedAt !== null) continue
          if (one.blockNumber <= from.blockNumber || one.blockNumber > to.blockNumber) continue
          outgoing.set(key, { ...one, droppedAt: lease.at })
        }
        for (const one of sent) {
          const { merchantId } = outgoing.get(keyOf(env, one)) ?? one
          outgoing.set(keyOf(env, one), { ...one, merchantId, env, droppedAt: null })
        }
        for (const one of seen) {
          const key = keyOf(env, one)
          const before = transfers.get(key)
          const paymentId = before?.paymentId ?? known.claimOf(env, one) ?? null
          transfers.set(key, {
            ...one,
            id: before?.id ?? one.id,
            env,
            kind: before?.kind ?? null,
            merchantId: ownerOf(paymentId, before?.merchantId ?? one.merchantId),
            paymentId,
            droppedAt: null,
            handledAt: before?.handledAt ?? null,
            handledBy: before?.handledBy ?? null,
            note: before?.note ?? null,
            matchAt:
              paymentId === null &&
              (before === undefined || before.handledAt === null || before.attachedTo !== null)
                ? lease.at
                : null,
            alerted: before?.alerted ?? false,
            attachedTo: before?.attachedTo ?? null,
            storedAt: before?.storedAt ?? lease.at
          })
        }
        return true
      }),
    rewindCursor: (env, lease, from, to) => Effect.sync(() => move(env, lease, from, to))
  }
}
