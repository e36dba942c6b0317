// Maps a Medusa refund to its Quittance refund. Medusa forgets a refund that fails, so the refund's id is
// derived from the payment, the amount and earlier refunds. It is the same for every try.
import type { Quittance } from "../client/Quittance.ts"
import type { Refund } from "../client/resources.ts"

export interface RefundRequest {
  readonly paymentId: string
  /** Amount in USD. */
  readonly amount: string
  /** Ids of the Quittance refunds that Medusa has already recorded. */
  readonly done: ReadonlyArray<string>
  /** The merchant's note, which may contain the id of a refund created in the dashboard. */
  readonly note: string | undefined
}

export interface ShopRefund {
  readonly refund: Refund
  /** Refunds of the same amount that were requested elsewhere. */
  readonly others: ReadonlyArray<Refund>
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A UUID of version 8, whose bits the application chooses. */
const idOf = async ({ amount, paymentId }: RefundRequest, ordinal: number): Promise<string> => {
  const text = new TextEncoder().encode(`quittance-medusa-refund\n${paymentId}\n${amount}\n${ordinal}`)
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text))
  const hex = Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("")
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hex) ?? []
  return `${a}-${b}-8${c}-8${d}-${e}`
}

const isOpen = ({ status }: Refund) => status === "pending" || status === "proven"

/** Returns the refund that the request means. Creates it if it does not exist. */
export const shopRefund = async (quittance: Quittance, request: RefundRequest): Promise<ShopRefund> => {
  const { amount, done, note = "", paymentId } = request
  const all = new Map<string, Refund>()
  for await (const refund of quittance.refunds.list({ paymentId, limit: 100 }))
    if (refund.amount === amount) all.set(refund.id, refund)
  const notedIds = new Set(note.toLowerCase().match(uuid))
  const notedRefund = [...all.values()].find(
    (refund) => notedIds.has(refund.id) && !done.includes(refund.id) && isOpen(refund)
  )
  if (notedRefund !== undefined) return { refund: notedRefund, others: [] }
  const others = () =>
    [...all.values()].filter(
      (refund) => isOpen(refund) && !done.includes(refund.id) && !ownIds.has(refund.id)
    )
  const ownIds = new Set<string>()
  for (let ordinal = 0; ; ordinal++) {
    const id = await idOf(request, ordinal)
    ownIds.add(id)
    const refund = all.get(id)
    if (refund === undefined)
      return { refund: await quittance.refunds.create({ id, paymentId, amount }), others: others() }
    if (isOpen(refund) && !done.includes(id)) return { refund, others: others() }
  }
}
