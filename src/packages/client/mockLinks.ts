// The mock's payment links.
import { atomicOf, isAmount, json, placeAfter, refuse, shown, unknownCursor } from "./mockResponses.ts"
import type { PaymentLink } from "./resources.ts"

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === "object" && body !== null ? { ...body } : {}

export const mockLinks = (baseUrl: string) => {
  const links = new Map<string, PaymentLink>()
  const path = "/api/v1/payment-links"

  const amountsOf = ({ amount, minAmount, maxAmount }: Readonly<Record<string, unknown>>) => {
    if (isAmount(amount) && minAmount === undefined && maxAmount === undefined)
      return { amount: shown(amount) }
    const bounded = isAmount(minAmount) && isAmount(maxAmount) && atomicOf(minAmount) <= atomicOf(maxAmount)
    if (bounded && amount === undefined) return { minAmount: shown(minAmount), maxAmount: shown(maxAmount) }
    return undefined
  }

  const create = (text: string): Response => {
    const fields = fieldsOf(JSON.parse(text))
    const { description, once, expiresAt } = fields
    if (typeof description !== "string" || description === "")
      return refuse(400, "INVALID_REQUEST", "`description` is invalid.")
    const amounts = amountsOf(fields)
    if (amounts === undefined)
      return refuse(400, "INVALID_REQUEST", "Send `amount`, or `minAmount` and `maxAmount` without it.")
    const id = crypto.randomUUID().replaceAll("-", "").slice(0, 24)
    const url = `${baseUrl}/link/${id}`
    const link: PaymentLink = {
      id,
      url,
      posterUrl: `${url}/poster`,
      env: "test",
      merchant: "Mock",
      description,
      ...amounts,
      currency: "USD",
      once: once === true,
      state: "open",
      createdAt: new Date().toISOString(),
      ...(typeof expiresAt === "string" ? { expiresAt } : {})
    }
    links.set(id, link)
    return json(201, { link })
  }

  const list = (query: URLSearchParams): Response => {
    const all = [...links.values()].reverse()
    const first = placeAfter(
      all.map(({ id }) => id),
      query.get("startingAfter")
    )
    if (first === undefined) return unknownCursor("startingAfter")
    const rest = all.slice(first)
    const limit = Number(query.get("limit") ?? 100)
    return json(200, { links: rest.slice(0, limit), hasMore: rest.length > limit })
  }

  const close = (id: string): Response => {
    const link = links.get(id)
    if (link === undefined) return refuse(404, "PAYMENT_LINK_NOT_FOUND", "No such payment link.")
    if (link.state === "open") links.set(id, { ...link, state: "closed" })
    return new Response(null, { status: 204 })
  }

  return {
    /** Answers a request about links; undefined for any other request. */
    answer: (method: string, { pathname, searchParams }: URL, body: string): Response | undefined => {
      if (pathname === path && method === "POST") return create(body)
      if (pathname === path && method === "GET") return list(searchParams)
      if (pathname.startsWith(`${path}/`) && method === "DELETE")
        return close(pathname.slice(path.length + 1))
      return undefined
    },
    /** The amount and order of a payment through a link. If the link is payable once, it is now paid. */
    pay: (id: string, chosen: string | undefined) => {
      const link = links.get(id)
      if (link === undefined) throw new Error(`The mock has no payment link ${id}: create it first.`)
      if (link.state !== "open") throw new Error(`The payment link ${id} is ${link.state}.`)
      const amount = chosen ?? link.amount
      if (!isAmount(amount)) throw new Error("Pass the amount that the buyer chooses.")
      const { minAmount: least = link.amount ?? amount, maxAmount: most = link.amount ?? amount } = link
      if (atomicOf(amount) < atomicOf(least) || atomicOf(amount) > atomicOf(most))
        throw new Error(`The amount must be from ${least} to ${most}.`)
      if (link.once) links.set(id, { ...link, state: "paid" })
      return { amount, intentUrl: link.url }
    }
  }
}
