// Agents that pay payments and resources by x402, the servers of those resources, and strangers who use what they
// have signed.
import { Effect, Option } from "effect"
import type { Address } from "../../../src/domain/Chain.ts"
import { formatUsd } from "../../../src/domain/Money.ts"
import { networks } from "../../../src/domain/networks.ts"
import type { SignedAuthorization } from "../../../src/x402/Authorization.ts"
import { decodeHeader, networkNames, readPayment } from "../../../src/x402/Wire.ts"
import type { Ledger } from "../chain/Ledger.ts"
import { x402Url } from "../Door.ts"
import type { Draw } from "../Draw.ts"
import { addressOf, type People, purchaseOf } from "../People.ts"
import type { World } from "../World.ts"

const { usdc } = networks.test
const stranger = addressOf(0x57)

/** Perhaps brings an authorization onto the chain, as whoever sees it may; whether somebody has. */
export type Stranger = (authorization: SignedAuthorization) => Effect.Effect<boolean>

export const strangerOf =
  (world: World, ledger: Ledger, draw: Draw): Stranger =>
  ({ from, nonce, to, validAfter, validBefore, value }) =>
    Effect.gen(function* () {
      if (!draw.chance(0.2)) return false
      yield* Effect.sleep(draw.between(0, 6_000))
      ledger.submit({
        sender: stranger,
        nonce: ledger.pendingNonce(stranger),
        moves: [{ from, to, amount: value }],
        noise: 0,
        reverts: false,
        spending: { payer: from, nonce, cancels: false, validAfter, validBefore }
      })
      world.tell("stranger", `uses ${nonce.slice(0, 10)}`)
      return true
    })

interface Agent {
  readonly id: string
  readonly address: Address
  readonly key: string
  readonly capPerPayment: bigint
  readonly capPerDay: bigint
}

/** What an agent has signed. */
export interface AgentSignature {
  readonly agent: Agent
  readonly amount: bigint
  readonly at: number
}

/** A request that a resource's server has served, by the authorization that paid it. */
export interface Serving {
  readonly nonce: string
  /** What the request costs, and what was signed. */
  readonly price: bigint
  readonly paid: bigint
  readonly request: string
}

export class Agents {
  /** By nonce. */
  readonly signatures = new Map<string, AgentSignature>()
  readonly served: Array<Serving> = []
  readonly #world: World
  readonly #people: People
  readonly #ledger: Ledger
  readonly #stranger: Stranger
  readonly #draw: Draw
  #agent: Agent | undefined
  #requests = 0

  constructor(world: World, people: People, ledger: Ledger, stranger: Stranger, draw: Draw) {
    this.#world = world
    this.#people = people
    this.#ledger = ledger
    this.#stranger = stranger
    this.#draw = draw
  }

  /** The shop's agent, made when it is first needed. */
  #agentOf(who: string): Effect.Effect<Agent | undefined> {
    return Effect.gen({ self: this }, function* () {
      if (this.#agent !== undefined) return this.#agent
      const caps = { capPerPayment: 2_500_000n, capPerDay: this.#draw.pick([3_000_000n, 6_000_000n]) }
      const { secret: key } = this.#people.shop
      const answer = yield* this.#people.insist(who, { do: "provision agent", key, ...caps })
      const made = answer?.agent
      if (made === undefined) return undefined
      this.#ledger.fund(made.address, 1_000_000_000n)
      this.#agent = { ...made, ...caps }
      return this.#agent
    })
  }

  /** An authorization by the agent of so much for the shop; undefined if the service refuses. */
  #header(who: string, agent: Agent, resource: string, amount: bigint) {
    const requestId = crypto.randomUUID()
    const accepts = [this.#requirements(amount)]
    const ask = { do: "sign for agent", key: agent.key, requestId, resource, accepts } as const
    return Effect.gen({ self: this }, function* () {
      const asks = Array.from({ length: this.#draw.chance(0.3) ? 2 : 1 }, () => this.#people.insist(who, ask))
      const answers = yield* Effect.all(asks, { concurrency: 2 })
      const header = answers.find((answer) => answer?.header !== undefined)?.header
      if (header === undefined) return undefined
      const { authorization } = yield* Effect.orDie(readPayment(2, Option.getOrNull(decodeHeader(header))))
      const { nonce, value } = authorization
      if (!this.signatures.has(nonce))
        this.signatures.set(nonce, { agent, amount: value, at: this.#world.now })
      this.#world.tell(who, `has a signature ${nonce.slice(0, 10)} for ${formatUsd(value)}`)
      return { header, authorization }
    })
  }

  #requirements(amount: bigint) {
    return {
      scheme: "exact",
      network: networkNames.test[2],
      amount: amount.toString(),
      asset: usdc.address,
      payTo: this.#people.shop.receiver,
      maxTimeoutSeconds: 120,
      extra: { name: usdc.domainName, version: usdc.domainVersion }
    }
  }

  /** Pays a payment of the shop. */
  buy(who: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const agent = yield* this.#agentOf(who)
      const amount = this.#draw.pick([1_000_000n, 2_500_000n, 4_000_000n])
      const paymentId = yield* this.#people.open(who, amount)
      if (agent === undefined || paymentId === undefined) return
      const made = yield* this.#header(who, agent, x402Url(paymentId), amount)
      if (made === undefined) return
      const { authorization, header } = made
      const purchase = purchaseOf({ buyer: agent.address, amount, paymentId })
      purchase.nonces.push(authorization.nonce)
      this.#people.purchases.push(purchase)
      yield* this.#stranger(authorization)
      const key = this.#people.shop.publishable
      const send = Effect.gen({ self: this }, function* () {
        for (let tries = 0; tries < 6; tries++) {
          const answer = yield* this.#people.ask(who, { do: "pay by header", key, paymentId, header })
          if (answer?.status === 200) return
          yield* Effect.sleep(this.#draw.between(1_000, 6_000))
        }
      })
      const sends = this.#draw.chance(0.4)
        ? Effect.all([send, send], { concurrency: 2, discard: true })
        : Effect.delay(send, this.#draw.between(0, 9_000))
      if (this.#draw.chance(0.5)) return yield* sends
      // A person pays it as well.
      const other = purchaseOf({ buyer: addressOf(0xb1), amount, paymentId })
      this.#people.purchases.push(other)
      yield* Effect.all([sends, this.#people.pay(`${who}, a person`, other)], {
        concurrency: 2,
        discard: true
      })
    })
  }

  /** Pays a resource of the shop's server; some clients send one payment more than once. */
  useResource(who: string): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const agent = yield* this.#agentOf(who)
      if (agent === undefined) return
      const price = this.#draw.pick([250_000n, 1_000_000n])
      const made = yield* this.#header(who, agent, "https://shop.example.com/data", price)
      if (made === undefined) return
      yield* this.#stranger(made.authorization)
      const requests = this.#draw.pick([1, 2, 3])
      const honest = Array.from({ length: requests }, () => this.#serve(who, made, price))
      // Some also send it to a dearer resource.
      const dear = Effect.delay(this.#serve(who, made, 5_000_000n), this.#draw.between(0, 9_000))
      const all = this.#draw.chance(0.5) ? [...honest, dear] : honest
      yield* Effect.all(all, { concurrency: all.length, discard: true })
    })
  }

  /** One request at the shop's server, which serves what its facilitator calls settled. */
  #serve(
    who: string,
    { authorization, header }: { readonly authorization: SignedAuthorization; readonly header: string },
    price: bigint
  ): Effect.Effect<void> {
    const { secret: key } = this.#people.shop
    const requirements = this.#requirements(price)
    const request = `request ${++this.#requests}`
    // Some servers repeat a request that was not answered; others take that for a refusal.
    const identity = this.#draw.chance(0.6) ? `key ${request}` : undefined
    return Effect.gen({ self: this }, function* () {
      for (let tries = 0; tries < 6; tries++) {
        const answer = yield* this.#people.ask(who, { do: "settle", key, header, requirements, identity })
        const settle = answer?.settle
        if (settle?.success === true) {
          const { nonce, value: paid } = authorization
          this.served.push({ nonce, request, price, paid })
          this.#world.tell("shop", `serves ${request} for ${nonce.slice(0, 10)}`)
          return
        }
        if (identity === undefined && answer === undefined) return
        if (settle !== undefined && settle.errorReason !== "settlement_pending") return
        yield* Effect.sleep(this.#draw.between(1_000, 6_000))
      }
    })
  }
}
