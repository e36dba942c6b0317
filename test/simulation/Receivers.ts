// The network to the shop's webhook server, and the server: it verifies posts like a careful merchant, and misbehaves
// as the seed says.
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

/** The requests that have reached the server. */
export interface Post {
  readonly at: number
  readonly by: string
  readonly url: string
  /** `webhook-id`. */
  readonly id: string
  readonly body: string
  /** True if the signature is valid. */
  readonly verified: boolean
  readonly accepted: boolean
}

export const shopUrl = "https://shop.example.com/hook"
/** The sender's budget for one attempt. */
const totalMillis = 15_000

/** As a merchant's server computes it (docs/contract.md 6.2). */
const macOf = (secret: string, timestamp: number, body: Uint8Array) =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")

const count = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)

export class Receivers {
  readonly posts: Array<Post> = []
  /** The number of times each delivery was sent, and its sender learned that it was accepted. */
  readonly sends = new Map<string, number>()
  readonly heard = new Map<string, number>()
  readonly #world: World
  readonly #board: FaultBoard
  readonly #draw: Draw
  #secret = ""
  #downUntil = 0

  constructor(world: World, board: FaultBoard, draw: Draw) {
    this.#world = world
    this.#board = board
    this.#draw = draw.of("receivers")
    // It may stay down after the service's own faults have ended.
    if (board.comes("a receiver is down for minutes"))
      this.#downUntil = world.now + this.#draw.between(30, 500) * 1_000
  }

  /** Sets the secret of its endpoint. */
  trust(secret: string): void {
    this.#secret = secret
  }

  #arrive(by: string, { body, id, url }: SendRequest, signature: string, accepted: boolean): void {
    const timestamp = Number(/^t=(\d+),/.exec(signature)?.[1])
    this.posts.push({
      at: this.#world.now,
      by,
      url,
      id,
      body: new TextDecoder().decode(body),
      verified: signature === `t=${timestamp},v1=${macOf(this.#secret, timestamp, body)}`,
      accepted
    })
    this.#world.tell(by, `posts ${id}: ${accepted ? "accepted" : "refused"}`)
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
