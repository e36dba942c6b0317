// The network to the merchants' webhook receivers, and the receivers: each verifies what it gets as a
// careful merchant does, handles each event once, and misbehaves as the seed has it.
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import { signatureHeaders } from "../../src/webhooks/Signature.ts"
import {
  answered,
  failed,
  type SendOutcome,
  type SendRequest
} from "../../src/webhooks/WebhookSender/SendOutcome.ts"
import type { WebhookSender } from "../../src/webhooks/WebhookSender.ts"
import type { Draw } from "./Draw.ts"
import type { FaultBoard } from "./faults.ts"
import { CurrentOwner, type World } from "./World.ts"

/** What reached a receiver. */
export interface Post {
  readonly at: number
  readonly by: string
  readonly url: string
  /** `webhook-id`. */
  readonly id: string
  readonly body: string
  /** Whether the signature holds with a secret that the receiver had at that time. */
  readonly verified: boolean
  readonly accepted: boolean
  /** Where its endpoint had moved long before, where it was not sent there. */
  readonly missed: string | undefined
}

/** The sender's budget for one attempt. */
const totalMillis = 15_000
/** A delivery that was claimed under the old secret may be on its way for so long. */
const oldSecretMillis = 45_000
/** And to the old address. */
const oldAddressMillis = 60_000

/** As a merchant's server computes it (docs/contract.md 6.2). */
const macOf = (secret: string, timestamp: number, body: Uint8Array) =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")

const count = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)

export class Receivers {
  readonly posts: Array<Post> = []
  /** How often each delivery was sent, and how often its sender heard that it was accepted. */
  readonly sends = new Map<string, number>()
  readonly heard = new Map<string, number>()
  readonly #world: World
  readonly #board: FaultBoard
  readonly #draw: Draw
  /** The address that each other address of a receiver stands for. */
  readonly #firstOf = new Map<string, string>()
  readonly #secrets = new Map<string, Array<{ readonly secret: string; until: number }>>()
  /** Where receivers have moved to, and since when; undefined where a request that moves one got no clear answer. */
  readonly #moved = new Map<string, { readonly url: string; readonly since: number } | undefined>()
  #downUntil = 0
  readonly #unsure = new Map<string, number>()

  constructor(world: World, board: FaultBoard, draw: Draw) {
    this.#world = world
    this.#board = board
    this.#draw = draw.of("receivers")
    // Whatever ceases for the service does not for the merchants.
    if (board.comes("a receiver is down for minutes"))
      this.#downUntil = world.now + this.#draw.between(30, 500) * 1_000
  }

  /** The receiver at this address verifies with the secret from now on. */
  trust(url: string, secret: string): void {
    const receiver = this.#receiverAt(url)
    this.#unsure.set(receiver, (this.#unsure.get(receiver) ?? 1) - 1)
    const known = this.#secrets.get(receiver) ?? []
    for (const one of known) one.until = Math.min(one.until, this.#world.now + oldSecretMillis)
    this.#secrets.set(receiver, [...known, { secret, until: Number.POSITIVE_INFINITY }])
  }

  /** Its endpoint is made anew: until the answer has come, the receiver knows no secret. */
  forget(url: string): void {
    const receiver = this.#receiverAt(url)
    this.#unsure.set(receiver, (this.#unsure.get(receiver) ?? 0) + 1)
  }

  /** Another address of the same receiver, which learns secrets there as well: a change's answer may be lost. */
  alias(url: string, known: string): void {
    const receiver = this.#receiverAt(known)
    if (url !== receiver) this.#firstOf.set(url, receiver)
  }

  /** Where its endpoint is told to be from now on, or `undefined`: nobody knows whether it has moved. */
  move(known: string, url: string | undefined): void {
    const receiver = this.#receiverAt(known)
    const isLost = this.#moved.has(receiver) && this.#moved.get(receiver) === undefined
    this.#moved.set(receiver, url === undefined || isLost ? undefined : { url, since: this.#world.now })
  }

  /** An instance that stood still sends what it had claimed, and a request that comes twice may come late. */
  #missed(url: string): string | undefined {
    const moved = this.#moved.get(this.#receiverAt(url))
    if (moved === undefined || moved.url === url || this.#world.now < moved.since + oldAddressMillis) return
    const isBlurred = this.#board.has("an instance stands still") || this.#board.has("a request comes twice")
    return isBlurred ? undefined : moved.url
  }

  #receiverAt(url: string): string {
    return this.#firstOf.get(url) ?? url
  }

  #arrive(by: string, request: SendRequest, signature: string, accepted: boolean): void {
    const body = new TextDecoder().decode(request.body)
    const timestamp = Number(/^t=(\d+),/.exec(signature)?.[1])
    const receiver = this.#receiverAt(request.url)
    const known = this.#secrets.get(receiver) ?? []
    // A repeated request may make an endpoint whose secret nobody has seen.
    const isUnknown =
      known.length === 0 || (this.#unsure.get(receiver) ?? 0) > 0 || this.#board.has("a request comes twice")
    const verified = known.some(
      ({ secret, until }) =>
        until > this.#world.now && signature === `t=${timestamp},v1=${macOf(secret, timestamp, request.body)}`
    )
    this.posts.push({
      at: this.#world.now,
      by,
      url: request.url,
      id: request.id,
      body,
      verified: verified || isUnknown,
      accepted,
      missed: this.#missed(request.url)
    })
    this.#world.tell(by, `posts ${request.id} to ${request.url}: ${accepted ? "accepted" : "refused"}`)
    this.#board.changed = true
  }

  readonly sender: WebhookSender["Service"] = {
    send: (request) =>
      Effect.suspend(() => {
        count(this.sends, request.id)
        return Effect.tap(this.#send(request), (outcome) =>
          Effect.sync(() => {
            if (outcome._tag === "Answered" && outcome.ok) count(this.heard, request.id)
          })
        )
      })
  }

  #send(request: SendRequest): Effect.Effect<SendOutcome> {
    const board = this.#board
    return Effect.gen({ self: this }, function* () {
      const { name, skewMillis } = yield* CurrentOwner
      const timestamp = Math.floor((this.#world.now + skewMillis) / 1000)
      const signed = signatureHeaders({ id: request.id, timestamp, body: request.body }, request.secret)
      const arrive = (accepted: boolean) =>
        this.#arrive(name, request, signed["x-service-signature"], accepted)
      yield* Effect.sleep(this.#draw.between(1, 80))
      if (board.comes("a receiver hangs")) {
        yield* Effect.sleep(totalMillis)
        return failed("timeout", totalMillis)
      }
      if (this.#world.now < this.#downUntil || board.comes("a receiver refuses")) {
        arrive(false)
        return answered(this.#draw.pick([500, 503, 404, 302]), 20)
      }
      if (board.comes("a receiver resets after it has handled")) {
        arrive(true)
        return failed("response", 20)
      }
      arrive(true)
      if (board.comes("a post arrives twice")) arrive(true)
      if (board.comes("a receiver answers late")) {
        const late = this.#draw.between(1_000, totalMillis + 3_000)
        yield* Effect.sleep(Math.min(late, totalMillis))
        return late > totalMillis ? failed("timeout", totalMillis) : answered(200, late)
      }
      return answered(200, 20)
    })
  }
}
