// Incoming transfers in this process, and what people do with them: the same rules as on Postgres.
import { Effect, Option } from "effect"
import type { ChainTransfer } from "../../chain/Verification.ts"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { MerchantId, Tenant } from "../../domain/Merchant.ts"
import type { Payment, PaymentId } from "../../domain/Payment.ts"
import { attachLeaseMillis, type IncomingTransfer, type TransferStore } from "../TransferStore.ts"
import { blockTolerance } from "./AttemptStore.ts"
import { type KeptOutgoing, type KeptTransfer, keyOf, makeChainReadingMemory } from "./chainReadingMemory.ts"
import { makeMatchingMemory } from "./matchingMemory.ts"

export interface MemoryTransfers {
  readonly store: TransferStore
  /**
   * The payer's transfers since the payment opened, or above a block, that would pay it and that no payment
   * claims, the oldest first.
   */
  readonly unclaimed: (
    payment: Payment,
    payer: Address,
    announcedIn?: bigint
  ) => ReadonlyArray<IncomingTransfer & { readonly isUndecided: boolean }>
  /** Whether money that would pay the payment has come, and it is not decided yet whose it is. */
  readonly isUndecided: (payment: Payment) => boolean
  /** Whether a person has handled the transfer, or is attaching it to another payment. */
  readonly isHandled: (
    env: Env,
    transfer: Omit<ChainTransfer, "blockNumber" | "blockHash">,
    paymentId: PaymentId,
    at: Date
  ) => boolean
  /** Ordinals of the equal transfers that a person has handled. */
  readonly handled: (transfer: {
    readonly env: Env
    readonly transactionId: TransactionHash
    readonly payer: Address
    readonly receiver: Address
    readonly amount: bigint
  }) => ReadonlyArray<number>
  /** What a refund of the transfer would give back, and whether it may. */
  readonly standing: (
    tenant: Tenant,
    id: string,
    at: Date
  ) =>
    | { readonly standing: "open" | "explained"; readonly paid: bigint; readonly sinceBlock: bigint }
    | undefined
  /** Handles an open transfer by its refund; false where it is handled already. */
  readonly takeForRefund: (
    id: string,
    by: { readonly at: Date; readonly person: string; readonly note: string | null }
  ) => boolean
  readonly giveBackRefunded: (id: string, at: Date) => void
  readonly outgoing: () => ReadonlyArray<KeptOutgoing>
  /** Open transfers of the same payer, receiver and amount are matched again. */
  readonly matchAgain: (
    env: Env,
    like: Pick<ChainTransfer, "payer" | "receiver" | "amount">,
    at: Date
  ) => void
  /** Whether the chain shows the transfer, by what was read last. */
  readonly isShown: (env: Env, transfer: Omit<ChainTransfer, "blockNumber" | "blockHash">) => boolean
  /** A transfer that the chain no longer shows is nobody's: its payment claims another. */
  readonly unexplain: (env: Env, transfer: Omit<ChainTransfer, "blockNumber" | "blockHash">) => void
  /** Explains a transfer by the payment that claims it. */
  readonly explain: (
    env: Env,
    transfer: Omit<ChainTransfer, "blockNumber" | "blockHash">,
    paymentId: PaymentId
  ) => void
}

/** Taken for a payment that it has not settled, it is open as well. */
const isOpen = (one: KeptTransfer) =>
  one.paymentId === null && one.droppedAt === null && (one.handledAt === null || one.attachedTo !== null)

const leaseOver = ({ attachedTo, handledAt }: KeptTransfer, at: Date) =>
  attachedTo !== null && handledAt !== null && handledAt.getTime() <= at.getTime() - attachLeaseMillis

/** Open and not leased. */
const isFree = (one: KeptTransfer, at: Date) => isOpen(one) && (one.handledAt === null || leaseOver(one, at))

const givenBack = { handledAt: null, handledBy: null, note: null, attachedTo: null } as const

export const makeTransfersMemory = (
  known: Parameters<typeof makeMatchingMemory>[0] & {
    readonly claimOf: (env: Env, transfer: ChainTransfer) => PaymentId | undefined
    readonly watchAgain: (env: Env, transfer: ChainTransfer, at: Date) => void
  }
): MemoryTransfers => {
  const transfers = new Map<string, KeptTransfer>()
  const outgoing = new Map<string, KeptOutgoing>()
  const byId = (id: string) => [...transfers.entries()].find(([, one]) => one.id === id)
  const change = (id: string, to: (one: KeptTransfer) => KeptTransfer) => {
    const found = byId(id)
    if (found !== undefined) transfers.set(found[0], to(found[1]))
  }
  const ofTenant =
    ({ merchantId, env }: Tenant) =>
    (one: KeptTransfer) =>
      one.merchantId === merchantId && one.env === env

  const mayTake = (one: KeptTransfer, at: Date) =>
    isFree(one, at) && known.claimOf(one.env, one) === undefined

  /** Whose a transfer is: what a payment claims belongs to the payment's merchant. */
  const ownerOf = (paymentId: PaymentId | null, merchantId: MerchantId) =>
    (paymentId === null ? undefined : known.payment(paymentId)?.merchantId) ?? merchantId

  return {
    isUndecided: ({ amount, env, receiver }) =>
      [...transfers.values()].some(
        (one) =>
          one.matchAt !== null &&
          one.paymentId === null &&
          one.droppedAt === null &&
          one.env === env &&
          one.receiver === receiver &&
          one.amount === amount
      ),
    unclaimed: (payment, payer, announcedIn) =>
      [...transfers.values()]
        .filter(
          (one) =>
            isOpen(one) &&
            one.env === payment.env &&
            one.payer === payer &&
            one.receiver === payment.receiver &&
            one.amount === payment.amount &&
            ((one.blockTime.getTime() > payment.createdAt.getTime() - 60_000 &&
              (payment.openedBlock === null ||
                one.blockNumber >= payment.openedBlock - BigInt(blockTolerance))) ||
              (payment.openedBlock !== null && one.blockNumber > payment.openedBlock) ||
              (announcedIn !== undefined && one.blockNumber > announcedIn))
        )
        .map((one) => ({ ...one, isUndecided: one.matchAt !== null }))
        .toSorted((left, right) => Number(left.blockNumber - right.blockNumber)),
    isHandled: (env, transfer, paymentId, at) => {
      const one = transfers.get(keyOf(env, transfer))
      return (
        one !== undefined &&
        one.paymentId === null &&
        one.handledAt !== null &&
        one.attachedTo !== paymentId &&
        !leaseOver(one, at)
      )
    },
    handled: (like) =>
      [...transfers.values()]
        .filter(
          (one) =>
            one.env === like.env &&
            one.transactionId === like.transactionId &&
            one.payer === like.payer &&
            one.receiver === like.receiver &&
            one.amount === like.amount &&
            one.paymentId === null &&
            one.handledAt !== null &&
            one.attachedTo === null
        )
        .map(({ ordinal }) => ordinal),
    standing: (tenant, id, at) => {
      const one = byId(id)?.[1]
      if (one === undefined || !ofTenant(tenant)(one)) return undefined
      const isLeased = one.attachedTo !== null && !leaseOver(one, at)
      const isExplained =
        isLeased ||
        one.paymentId !== null ||
        one.droppedAt !== null ||
        known.claimOf(one.env, one) !== undefined
      return {
        standing: isExplained ? "explained" : "open",
        paid: one.droppedAt === null ? one.amount : 0n,
        sinceBlock: one.blockNumber
      }
    },
    takeForRefund: (id, { at, note, person }) => {
      const one = byId(id)?.[1]
      if (one === undefined || (one.handledAt !== null && one.attachedTo === null)) return false
      change(id, (kept) => ({
        ...kept,
        handledAt: at,
        handledBy: person,
        note,
        attachedTo: null,
        matchAt: null
      }))
      return true
    },
    giveBackRefunded: (id, at) =>
      change(id, (one) => (one.paymentId === null ? { ...one, ...givenBack, matchAt: at } : one)),
    outgoing: () => [...outgoing.values()],
    matchAgain: (env, like, at) => {
      for (const one of transfers.values()) {
        const isEqual =
          one.env === env &&
          one.payer === like.payer &&
          one.receiver === like.receiver &&
          one.amount === like.amount
        if (isEqual && isOpen(one) && one.handledAt === null)
          change(one.id, (kept) => ({ ...kept, matchAt: kept.matchAt ?? at }))
      }
    },
    isShown: (env, transfer) => transfers.get(keyOf(env, transfer))?.droppedAt === null,
    unexplain: (env, transfer) => {
      const key = keyOf(env, transfer)
      const one = transfers.get(key)
      if (one !== undefined) transfers.set(key, { ...one, ...givenBack, paymentId: null, matchAt: null })
    },
    explain: (env, transfer, paymentId) => {
      const key = keyOf(env, transfer)
      const one = transfers.get(key)
      if (one !== undefined)
        transfers.set(key, {
          ...one,
          ...(one.attachedTo === paymentId ? {} : givenBack),
          merchantId: ownerOf(paymentId, one.merchantId),
          paymentId,
          matchAt: null
        })
    },
    store: {
      ...makeChainReadingMemory({ ...known, ownerOf, transfers, outgoing }),
      takeUnmatched: (at, leaseUntil, limit) =>
        Effect.sync(() => {
          const due = [...transfers.values()]
            .filter((one) => one.matchAt !== null && one.matchAt <= at && isFree(one, at))
            .toSorted((left, right) => Number(left.blockNumber - right.blockNumber))
            .slice(0, limit)
          for (const { id } of due) change(id, (one) => ({ ...one, ...givenBack, matchAt: leaseUntil }))
          return due.map((one) => ({ ...one, ...givenBack }))
        }),
      ...makeMatchingMemory(known),
      noteMatch: (id, outcome) =>
        Effect.sync(() =>
          change(id, (one) => {
            if (one.paymentId !== null) return one
            if ("matchAt" in outcome)
              return { ...one, matchAt: one.matchAt === null ? null : outcome.matchAt }
            const paymentId = known.claimOf(one.env, one) ?? null
            return {
              ...one,
              kind: outcome.kind,
              matchAt: one.attachedTo === null ? null : one.matchAt,
              merchantId: ownerOf(paymentId, one.merchantId),
              paymentId
            }
          })
        ),
      findTransfer: (tenant, id) =>
        Effect.sync(() => {
          const found = byId(id)?.[1]
          return Option.fromUndefinedOr(found !== undefined && ofTenant(tenant)(found) ? found : undefined)
        }),
      listTransfers: (tenant, { limit, startingAfter, status }) =>
        Effect.sync(() => {
          const all = [...transfers.values()]
            .filter(ofTenant(tenant))
            .filter((one) =>
              status === "open" ? isOpen(one) : status === "handled" ? one.handledAt !== null : true
            )
            .toSorted(
              (left, right) =>
                right.blockTime.getTime() - left.blockTime.getTime() || (left.id < right.id ? 1 : -1)
            )
          const last = startingAfter === undefined ? -1 : all.findIndex(({ id }) => id === startingAfter)
          return all.slice(last + 1, last + 1 + limit)
        }),
      handleTransfer: (tenant, id, { at, note, person }) =>
        Effect.sync(() => {
          const found = byId(id)?.[1]
          if (found === undefined || !ofTenant(tenant)(found) || !mayTake(found, at)) return false
          change(id, (one) => ({
            ...one,
            handledAt: at,
            handledBy: person,
            note,
            attachedTo: null,
            matchAt: null
          }))
          return true
        }),
      takeForPayment: (tenant, id, paymentId, { at, note, person }) =>
        Effect.sync(() => {
          const found = byId(id)?.[1]
          if (found === undefined || !ofTenant(tenant)(found) || !mayTake(found, at)) return false
          change(id, (one) => ({
            ...one,
            handledAt: at,
            handledBy: person,
            note,
            attachedTo: paymentId,
            matchAt: new Date(at.getTime() + attachLeaseMillis)
          }))
          return true
        }),
      giveBack: (id, paymentId, takenAt) =>
        Effect.sync(() =>
          change(id, (one) =>
            one.attachedTo === paymentId &&
            one.handledAt?.getTime() === takenAt.getTime() &&
            one.paymentId === null
              ? { ...one, ...givenBack, matchAt: one.handledAt }
              : one
          )
        ),
      unalerted: (storedBefore) =>
        Effect.sync(() => {
          const counts = new Map<string, Tenant & { readonly count: number }>()
          for (const one of transfers.values()) {
            if (!isOpen(one) || one.alerted || one.storedAt >= storedBefore) continue
            const { env, merchantId } = one
            const key = `${merchantId} ${env}`
            counts.set(key, { merchantId, env, count: (counts.get(key)?.count ?? 0) + 1 })
          }
          return [...counts.values()]
        }),
      noteAlerted: (tenant, storedBefore) =>
        Effect.sync(() => {
          for (const one of transfers.values())
            if (ofTenant(tenant)(one) && isOpen(one) && one.storedAt < storedBefore)
              change(one.id, (kept) => ({ ...kept, alerted: true }))
        })
    }
  }
}
