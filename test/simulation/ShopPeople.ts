// A shop's server, which registers its receiver, and its people, who move it, renew its secret, rotate keys and
// explain transfers.
import { Effect } from "effect"
import { badAmounts, goodAmounts } from "./amounts.ts"
import { careless, type People, type Shop } from "./People.ts"
import type { Receivers } from "./Receivers.ts"

export class ShopPeople {
  readonly #people: People
  readonly #receivers: Receivers

  constructor(people: People, receivers: Receivers) {
    this.#people = people
    this.#receivers = receivers
  }

  /** Registers the shop's receiver, as its server does at its start. */
  register(shop: Shop): Effect.Effect<void> {
    return shop.desk.withPermit(this.#register(shop))
  }

  #register(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#receivers.forget(shop.url)
      let isLost = false
      for (let left = 20; left > 0; left--) {
        const answer = yield* this.#people.ask(shop.name, {
          do: "create endpoint",
          key: shop.secret,
          url: shop.url
        })
        const { secret } = answer?.body ?? {}
        if (secret !== undefined) return this.#receivers.trust(shop.url, secret)
        // What got no answer may be carried out after what did.
        if (answer === undefined && !isLost) {
          isLost = true
          this.#receivers.forget(shop.url)
        }
        // The endpoint is there and its secret was never seen: it is made anew.
        if (answer?.status === 409)
          yield* this.#people.ask(shop.name, { do: "delete endpoint", key: shop.secret })
        yield* Effect.sleep(this.#people.draw.between(200, 2_000))
      }
    })
  }

  /** The shop's server asks for amounts of all forms. A good one opens a payment of as much, which nobody pays. */
  ask(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { draw, rows, untrue } = this.#people
      const bad = draw.pick(badAmounts)
      const refused = yield* this.#people.insist(shop.name, () => ({
        do: "create intent",
        key: shop.secret,
        amount: bad
      }))
      if (refused !== undefined && refused.status !== 400 && refused.status !== 401)
        untrue.push(`an intent of ${JSON.stringify(bad)} was answered ${refused.status}`)
      const [asked, shown, atomic] = draw.pick(goodAmounts)
      const made = yield* this.#people.insist(shop.name, () => ({
        do: "create intent",
        key: shop.secret,
        amount: asked
      }))
      if (made?.status === 400) untrue.push(`an intent of ${asked} was refused`)
      const intentToken = made?.body.intentToken
      if (intentToken === undefined) return
      const opened = yield* this.#people.insist(shop.name, () => ({
        do: "open",
        key: shop.publishable,
        intentToken
      }))
      const { error, payment } = opened?.body ?? {}
      if (error?.code === "INVALID_INTENT_TOKEN")
        untrue.push(`an intent of ${asked} was made and cannot be opened`)
      if (payment === undefined) return
      const stored = rows.flatMap(({ payments }) => payments).find(({ id }) => id === payment.id)
      if (payment.amount !== shown || (stored !== undefined && stored.amount !== atomic))
        untrue.push(`an intent of ${asked} opens a payment of ${payment.amount}, ${stored?.amount} units`)
    })
  }

  /** What a shop's people do meanwhile. */
  operate(shop: Shop): Effect.Effect<void> {
    return shop.desk.withPermit(this.#operate(shop))
  }

  #operate(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const deed = this.#people.draw.pick([
        "send test",
        "move endpoint",
        "new endpoint",
        "renew secret",
        "rotate key",
        "explain transfers",
        "explain transfers"
      ])
      switch (deed) {
        case "send test":
          yield* this.#people.ask(shop.name, { do: "send test", key: shop.secret })
          return
        case "move endpoint": {
          const url = `${shop.url}/${this.#people.draw.below(1000)}`
          const known = shop.url
          this.#receivers.alias(url, known)
          const answer = yield* this.#people.ask(shop.name, { do: "change endpoint", key: shop.secret, url })
          if (answer?.status === 200) shop.url = url
          if (answer?.status === 200) this.#receivers.move(known, url)
          else if (answer === undefined || answer.status >= 500) this.#receivers.move(known, undefined)
          return
        }
        case "renew secret": {
          let tries = 0
          const answer = yield* this.#people.insist(shop.name, () => {
            // What got no answer may be carried out after what did.
            if (tries++ < 2) this.#receivers.forget(shop.url)
            return { do: "renew secret", key: shop.secret }
          })
          const { secret } = answer?.body ?? {}
          if (secret !== undefined) this.#receivers.trust(shop.url, secret)
          return
        }
        // Pages and servers that have the old key are refused from now on.
        case "rotate key": {
          const kind = this.#people.draw.pick(["secret", "publishable"] as const)
          const answer = yield* this.#people.insist(shop.name, () => ({
            do: "rotate key",
            key: "",
            merchantId: shop.merchant.id,
            kind
          }))
          const { secret } = answer?.body ?? {}
          if (secret === undefined) return
          const old = shop[kind]
          shop[kind] = secret
          const paymentId = crypto.randomUUID()
          const late = yield* this.#people.ask(shop.name, { do: "retrieve", key: old, paymentId })
          if (late !== undefined && late.status !== 401 && late.status < 429)
            this.#people.untrue.push(`a key that was rotated away was answered ${late.status}`)
          return
        }
        case "explain transfers":
          for (let looks = 0; looks < 4; looks++) {
            yield* Effect.sleep(this.#people.draw.between(2_000, 20_000))
            yield* this.#people.ask(shop.name, {
              do: "explain a transfer",
              key: shop.secret,
              payer: careless
            })
          }
          return
        case "new endpoint":
          yield* this.#people.ask(shop.name, { do: "delete endpoint", key: shop.secret })
          yield* this.#register(shop)
      }
    })
  }
}
