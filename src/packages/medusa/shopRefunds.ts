// Which refund at the service a refund of Medusa is. Medusa forgets a refund that fails, so the one that it asks for
// has an id that follows from the payment, the amount and what was refunded before: it is the same at each try.
import type { Quittance } from "../client/Quittance.ts"
import type { Refund } from "../client/resources.ts"

export interface AskedRefund {
  readonly paymentId: string
  /** USD. */
  readonly amount: string
  /** Refunds at the service that are refunds of Medusa already. */
  readonly done: ReadonlyArray<string>
  /** The merchant's note: the id of a refund made in the dashboard. */
  readonly note: string | undefined
}

export interface ShopRefund {
  readonly refund: Refund
  /** Refunds of the same amount that were requested elsewhere. */
  readonly others: ReadonlyArray<Refund>
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** A UUID of version 8, whose bits are ours. */
const idOf = async ({ amount, paymentId }: AskedRefund, ordinal: number): Promise<string> => {
  const text = new TextEncoder().encode(`quittance-medusa-refund\n${paymentId}\n${amount}\n${ordinal}`)
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", text))
  const hex = Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("")
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hex) ?? []
  return `${a}-${b}-8${c}-8${d}-${e}`
}

const isOpen = ({ status }: Refund) => status === "pending" || status === "proven"

/** Asks for it where it is not there. */
export const shopRefund = async (quittance: Quittance, asked: AskedRefund): Promise<ShopRefund> => {
  const { amount, done, note = "", paymentId } = asked
  const all = new Map<string, Refund>()
  for await (const one of quittance.refunds.list({ paymentId, limit: 100 }))
    if (one.amount === amount) all.set(one.id, one)
  const named = new Set(note.toLowerCase().match(uuid))
  const meant = [...all.values()].find((one) => named.has(one.id) && !done.includes(one.id) && isOpen(one))
  if (meant !== undefined) return { refund: meant, others: [] }
  const others = () =>
    [...all.values()].filter((one) => isOpen(one) && !done.includes(one.id) && !own.has(one.id))
  const own = new Set<string>()
  for (let ordinal = 0; ; ordinal++) {
    const id = await idOf(asked, ordinal)
    own.add(id)
    const refund = all.get(id)
    if (refund === undefined)
      return { refund: await quittance.refunds.create({ id, paymentId, amount }), others: others() }
    if (isOpen(refund) && !done.includes(id)) return { refund, others: others() }
  }
}
