// Invariants about webhooks.
import { moneyNetwork } from "../../../support/moneyNetwork.ts"
import { type Invariants, isUninterrupted, type Look } from "../Look.ts"

const settlementsOf = ({ rows }: Look) => rows.deliveries.filter(({ type }) => type === "payment.settled")

const retryMillis = [60_000, 240_000]
/** The largest delay of a retry: workers poll, and the world's time moves in steps at the end. */
const lateMillis = 90_000

export const deliveries: Invariants = {
  "a settlement queues one delivery": (look) => {
    const ids = new Set<string>()
    const counts = new Map<string, number>()
    for (const { id, paymentId } of settlementsOf(look)) {
      if (ids.has(id)) return `two deliveries have the id ${id}`
      ids.add(id)
      counts.set(String(paymentId), (counts.get(String(paymentId)) ?? 0) + 1)
    }
    for (const payment of look.rows.payments) {
      const count = counts.get(payment.id) ?? 0
      if (count !== (payment.status === "settled" ? 1 : 0))
        return `${payment.status} payment ${payment.id} has ${count} deliveries`
    }
    return undefined
  },

  // Nobody resends a delivery by hand here.
  "ended deliveries stay as they are": (look) => {
    for (const { id, status: before } of look.before.deliveries) {
      const status = look.rows.deliveries.find((one) => one.id === id)?.status
      if (before !== "pending" && before !== status) return `delivery ${id} was ${before} and is ${status}`
    }
    return undefined
  },

  "at most three attempts, and none early": (look) => {
    for (const { attempts, id } of look.rows.deliveries) {
      const own = attempts.filter(({ manual }) => !manual).toSorted((one, other) => one.number - other.number)
      if (own.length > 3) return `delivery ${id} has ${own.length} attempts`
      const sends = look.receivers.sends.get(id) ?? 0
      if (sends > 3 && isUninterrupted(look)) return `delivery ${id} was sent ${sends} times`
      if (new Set(own.map(({ number }) => number)).size !== own.length)
        return `delivery ${id} has two attempts of one number`
      for (const [index, attempt] of own.entries()) {
        const last = own[index - 1]
        if (last === undefined || last.durationMs === null) continue
        const waited = attempt.startedAt.getTime() - last.startedAt.getTime() - last.durationMs
        const wanted = retryMillis[last.number - 1] ?? 0
        if (waited < wanted - 2 * look.skewMillis - 1_000)
          return `attempt ${attempt.number} of delivery ${id} came ${waited} ms after the one before`
        if (waited > wanted + lateMillis && isUninterrupted(look))
          return `attempt ${attempt.number} of delivery ${id} came as late as ${waited} ms after the one before`
      }
    }
    return undefined
  },

  "what is posted is signed and true": (look) => {
    const payments = new Map(look.rows.payments.map((payment) => [String(payment.id), payment]))
    const queued = new Map(settlementsOf(look).map((one) => [one.id, one]))
    for (const post of look.receivers.posts) {
      if (!post.verified) return `the post ${post.id} to ${post.url} does not verify`
      const event = JSON.parse(post.body)
      if (event.id !== post.id) return `the post ${post.id} carries the id ${event.id}`
      if (event.type !== "payment.settled") continue
      const payment = payments.get(String(queued.get(post.id)?.paymentId))
      if (payment === undefined) return `the post ${post.id} belongs to no delivery`
      const [change] = event.tokenChanges
      if (
        payment.status !== "settled" ||
        event.transactionId !== payment.reported?.evidence.transactionId ||
        event.tokenChanges.length !== 1 ||
        event.livemode !== !moneyNetwork.isTest ||
        change.chainId !== moneyNetwork.chainId ||
        change.tokenAddress !== moneyNetwork.usdc.address ||
        change.amountAtomic !== payment.amount.toString() ||
        change.receiver !== look.receiver
      )
        return `the post ${post.id} tells ${post.body} of payment ${payment.id}`
    }
    return undefined
  }
}
