// Agents that pay payments and resources by x402, the servers of those resources, and clients that change or misuse
// what their agents sign.
import { Effect, Option } from "effect"
import { type Address, networks } from "../../../src/domain/Chain.ts"
import { formatUsd } from "../../../src/domain/Money.ts"
import type { SignedAuthorization } from "../../../src/x402/Authorization.ts"
import { decodeHeader, networkNames, readPayment } from "../../../src/x402/Wire.ts"
import type { Ledger } from "../chain/Ledger.ts"
import { type Ask, x402Url } from "../Door.ts"
import type { Draw } from "../Draw.ts"
import { addressOf, type People, purchaseOf, type Shop } from "../People.ts"
import type { World } from "../World.ts"
import type { Strangers } from "./Strangers.ts"

const { usdc } = networks.test
/** No shop's. */
const elsewhere = addressOf(0x73)

interface SimulatedAgent {
  readonly shop: Shop
  readonly id: string
  readonly address: Address
  readonly key: string
  /** The highest that its merchant has ever allowed. */
  readonly capPerPayment: bigint
  readonly capPerDay: bigint
  readonly allowedHosts: ReadonlyArray<string> | null
  /** Grows with each pause that was confirmed, and with each return from it that was asked for. */
  turns: number
  /** Confirmed, and no return asked for. */
  paused: boolean
}

/** What an agent has signed. */
export interface AgentSignature {
  readonly agent: SimulatedAgent
  readonly nonce: string
  readonly amount: bigint
  readonly resource: string
  readonly payee: Address
  readonly at: number
}

/** A request that a resource's server has served, by the authorization that paid it. */
export interface Serving {
  readonly nonce: string
  /** What the request costs, and what was signed. */
  readonly price: bigint
  readonly paid: bigint
  readonly payer: Address
  /** Whom it pays, and who has served it. */
  readonly payee: Address
  readonly shop: Shop
  readonly request: string
}

/** The header with another value in one place. */
const rewritten = (header: string, path: ReadonlyArray<string>, value: unknown): string => {
  const replaced = (object: unknown, [first = "", ...rest]: ReadonlyArray<string>): unknown => {
    const fields = Object.entries(object ?? {})
    const old = fields.find(([name]) => name === first)?.[1]
    return { ...Object.fromEntries(fields), [first]: rest.length === 0 ? value : replaced(old, rest) }
  }
  return btoa(JSON.stringify(replaced(JSON.parse(atob(header)), path)))
}

export class SimulatedAgents {
  readonly signatures = new Map<string, AgentSignature>()
  readonly served: Array<Serving> = []
  /** Requests that an agent has signed which was paused from before the first try until after the answer. */
  readonly signedInPause: Array<string> = []
  readonly #agents: Array<SimulatedAgent> = []
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  readonly #strangers: Strangers
  readonly #draw: Draw
  #requests = 0

  constructor(world: World, people: People, ledger: Ledger, strangers: Strangers, draw: Draw) {
    this.#world = world
    this.#people = people
    this.#ledger = ledger
    this.#strangers = strangers
    this.#draw = draw
  }

  /** Somebody at the shop pauses its agent for a while. */
  pause(shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* Effect.sleep(this.#draw.between(0, 6_000))
      const agent = this.#agents.find((one) => one.shop === shop)
      if (agent === undefined) return
      const change = (status: "active" | "paused") =>
        this.#people.insist(shop.name, () => ({
          do: "change agent",
          key: shop.secret,
          agentId: agent.id,
          change: { status }
        }))
      const answer = yield* change("paused")
      if (answer?.status === 200) {
        agent.turns++
        agent.paused = true
      }
      yield* Effect.sleep(this.#draw.between(1_000, 20_000))
      agent.turns++
      agent.paused = false
      yield* change("active")
    })
  }

  /** An agent of the shop, made when it is first needed. */
  #agentOf(who: string, shop: Shop): Effect.Effect<SimulatedAgent | undefined> {
    return Effect.gen({ self: this }, function* () {
      const known = this.#agents.find((one) => one.shop === shop)
      if (known !== undefined) return known
      const agent = yield* this.#provision(who, shop, null)
      if (agent !== undefined) this.#agents.push(agent)
      return agent
    })
  }

  #provision(
    who: string,
    shop: Shop,
    allowedHosts: ReadonlyArray<string> | null
  ): Effect.Effect<SimulatedAgent | undefined> {
    return Effect.gen({ self: this }, function* () {
      const caps = { capPerPayment: 2_500_000n, capPerDay: this.#draw.pick([3_000_000n, 6_000_000n]) }
      const answer = yield* this.#people.insist(who, () => ({
        do: "provision agent",
        key: shop.secret,
        ...caps,
        allowedHosts
      }))
      const made = answer?.signing?.agent
      if (made === undefined) return undefined
      const agent = { shop, ...made, ...caps, allowedHosts, turns: 0, paused: false }
      this.#ledger.fund(agent.address, 1_000_000_000n)
      return agent
    })
  }

  /** What the agent's service signs for it; undefined where it refuses. */
  #header(who: string, agent: SimulatedAgent, resource: string, accepts: ReadonlyArray<unknown>) {
    const requestId = crypto.randomUUID()
    return Effect.gen({ self: this }, function* () {
      const { paused, turns } = agent
      const ask = (): Ask => ({ do: "sign for agent", key: agent.key, requestId, resource, accepts })
      const answers = yield* this.#draw.chance(0.3)
        ? Effect.all([this.#people.insist(who, ask), this.#people.insist(who, ask)], { concurrency: 2 })
        : Effect.map(this.#people.insist(who, ask), (one) => [one])
      const header = answers.find((one) => one?.signing?.header !== undefined)?.signing?.header
      if (header === undefined) return undefined
      if (paused && agent.turns === turns) this.signedInPause.push(requestId)
      const { authorization } = yield* Effect.orDie(readPayment(2, Option.getOrNull(decodeHeader(header))))
      const { nonce, to: payee, value } = authorization
      if (!this.signatures.has(nonce))
        this.signatures.set(nonce, { agent, nonce, amount: value, resource, payee, at: this.#world.now })
      this.#world.tell(who, `has a signature ${nonce.slice(0, 10)} for ${formatUsd(value)}`)
      return { header, authorization }
    })
  }

  #requirements({ receiver }: Pick<Shop, "receiver">, amount: bigint) {
    return {
      scheme: "exact",
      network: networkNames.test[2],
      amount: amount.toString(),
      asset: usdc.address,
      payTo: receiver,
      maxTimeoutSeconds: 120,
      extra: { name: usdc.domainName, version: usdc.domainVersion }
    }
  }

  /** An agent that pays a payment of the shop. */
  buyByAgent(who: string, shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const agent = yield* this.#agentOf(who, shop)
      const amount = this.#draw.pick([1_000_000n, 2_500_000n, 4_000_000n])
      const paymentId = yield* this.#people.open(who, shop, amount)
      if (agent === undefined || paymentId === undefined) return
      const made = yield* this.#header(who, agent, x402Url(paymentId), [this.#requirements(shop, amount)])
      if (made === undefined) return
      const { authorization, header } = made
      const purchase = purchaseOf({ shop, buyer: agent.address, amount, paymentId })
      purchase.nonces.push(authorization.nonce)
      this.#people.purchases.push(purchase)
      yield* this.#strangers.use(authorization)
      const send = Effect.gen({ self: this }, function* () {
        for (let tries = 0; tries < 6; tries++) {
          const answer = yield* this.#people.ask(who, {
            do: "pay by header",
            key: shop.publishable,
            paymentId,
            header
          })
          if (answer?.status === 200) return
          yield* Effect.sleep(this.#draw.between(1_000, 6_000))
        }
      })
      const sends = this.#draw.chance(0.4)
        ? Effect.all([send, send], { concurrency: 2, discard: true })
        : Effect.delay(send, this.#draw.between(0, 9_000))
      // A person pays it as well: the agent was not told.
      const [buyer] = this.#people.wallets
      if (buyer === undefined || this.#draw.chance(0.5)) return yield* sends
      const other = purchaseOf({ shop, buyer, amount, paymentId })
      this.#people.purchases.push(other)
      yield* Effect.all([sends, this.#people.pay(`${who}, a person`, other)], {
        concurrency: 2,
        discard: true
      })
    })
  }

  /** An agent that pays a resource of the shop's server, and clients that send one payment more than once. */
  useResource(who: string, shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const agent = yield* this.#agentOf(who, shop)
      if (agent === undefined) return
      const price = this.#draw.pick([250_000n, 1_000_000n])
      const accepts = [this.#requirements(shop, price)]
      const made = yield* this.#header(who, agent, `https://${shop.name}.example.com/data`, accepts)
      if (made === undefined) return
      yield* this.#strangers.use(made.authorization)
      const requests = this.#draw.pick([1, 2, 3])
      // Some send what they have paid for one thing to a dearer one as well.
      const honest = Array.from({ length: requests }, () => this.#serve(who, shop, made, price))
      const dear = Effect.delay(this.#serve(who, shop, made, 5_000_000n), this.#draw.between(0, 9_000))
      const all = this.#draw.chance(0.5) ? [...honest, dear] : honest
      yield* Effect.all(all, { concurrency: all.length, discard: true })
    })
  }

  /**
   * An agent, perhaps one whose merchant has restricted its hosts, pays the shop; then it is asked to pay somebody
   * else at the same host, and its client brings that to the shop.
   */
  payElsewhere(who: string, shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const [host, price] = [`${shop.name}.example.com`, 250_000n]
      const agent = yield* this.#provision(who, shop, this.#draw.chance(0.5) ? [host] : null)
      const paymentId = yield* this.#people.open(who, shop, price)
      if (agent === undefined || paymentId === undefined) return
      const resource = `https://${host}/data`
      yield* this.#header(who, agent, resource, [this.#requirements(shop, price)])
      yield* this.#bringElsewhere(who, shop, agent, resource, price, paymentId)
    })
  }

  #bringElsewhere(
    who: string,
    shop: Shop,
    agent: SimulatedAgent,
    resource: string,
    price: bigint,
    paymentId: string
  ): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const payee = { receiver: elsewhere }
      const made = yield* this.#header(who, agent, resource, [this.#requirements(payee, price)])
      if (made === undefined) return
      yield* this.#serve(who, shop, made, price)
      yield* this.#serve(who, shop, made, price, payee)
      const { header } = made
      yield* this.#people.ask(who, { do: "pay by header", key: shop.publishable, paymentId, header })
    })
  }

  /** A client that changes its agent's header: numbers that no chain takes, or words of its own for what it pays. */
  writeOddly(who: string, shop: Shop): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const agent = yield* this.#agentOf(who, shop)
      const price = 250_000n
      const paymentId = yield* this.#people.open(who, shop, price)
      if (agent === undefined || paymentId === undefined) return
      const requirements = this.#requirements(shop, price)
      const made = yield* this.#header(who, agent, `https://${shop.name}.example.com/data`, [requirements])
      if (made === undefined) return
      const worded = { url: "https://shop.example.com/orders/1042", description: "", mimeType: "" }
      yield* this.#serve(who, shop, { ...made, header: rewritten(made.header, ["resource"], worded) }, price)
      const number = this.#draw.pick(["value", "validAfter", "validBefore"])
      const header = rewritten(made.header, ["payload", "authorization", number], "9".repeat(78))
      yield* this.#people.ask(who, {
        do: "settle",
        key: shop.secret,
        header,
        requirements,
        identity: undefined
      })
      yield* this.#people.ask(who, { do: "pay by header", key: shop.publishable, paymentId, header })
    })
  }

  /** One request at the shop's server, which serves what its facilitator calls settled. */
  #serve(
    who: string,
    shop: Shop,
    { authorization, header }: { readonly authorization: SignedAuthorization; readonly header: string },
    price: bigint,
    payee: Pick<Shop, "receiver"> = shop
  ): Effect.Effect<void> {
    const requirements = this.#requirements(payee, price)
    const request = `request ${++this.#requests}`
    // Some servers repeat what they heard no answer to; others take that for a refusal.
    const identity = this.#draw.chance(0.6) ? `key ${request}` : undefined
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < 6; tries++) {
        const answer = yield* this.#people.ask(who, {
          do: "settle",
          key: shop.secret,
          header,
          requirements,
          identity
        })
        const settle = answer?.signing?.settle
        if (settle?.success === true) {
          const { from: payer, nonce, to: payee, value: paid } = authorization
          this.served.push({ nonce, payer, payee, shop, request, price, paid })
          this.#world.tell(shop.name, `serves ${request} for ${authorization.nonce.slice(0, 10)}`)
          return
        }
        if (identity === undefined && answer === undefined) return
        if (settle !== undefined && settle.errorReason !== "settlement_pending") return
        yield* Effect.sleep(this.#draw.between(1_000, 6_000))
      }
    })
  }
}
