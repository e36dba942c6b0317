// Sets up the real sender for a test: policy, budgets, and its DNS server.
import { expect } from "bun:test"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { type EgressBudgets, EgressPolicy } from "../../../src/platform/egress/EgressPolicy.ts"
import { Resolver } from "../../../src/platform/egress/Resolver.ts"
import type { SendOutcome, SendRequest } from "../../../src/webhooks/WebhookSender/SendOutcome.ts"
import { WebhookSender } from "../../../src/webhooks/WebhookSender.ts"
import type { DnsServer } from "../../support/dnsServer.ts"
import { type RawReceiver, type RawReceiverOptions, rawReceiver } from "../../support/rawReceiver.ts"

export interface EgressOptions {
  readonly allowedHosts?: ReadonlyArray<string>
  readonly ownHosts?: ReadonlyArray<string>
  readonly budgets?: Partial<EgressBudgets>
  readonly certificateAuthorities?: ReadonlyArray<string>
  readonly dns?: DnsServer
}

/** Budgets that a busy machine does not exceed by itself. */
const ampleBudgets = { dnsMillis: 3_000, connectMillis: 3_000, tlsMillis: 3_000, totalMillis: 10_000 }

/** Budgets so short that a test can let each one run out. */
export const shortBudgets = { dnsMillis: 300, connectMillis: 300, tlsMillis: 300, totalMillis: 800 }

/** The real sender, alive as long as the scope. */
export const makeSender = (
  options: EgressOptions
): Effect.Effect<WebhookSender["Service"], never, Scope.Scope> => {
  const policy = EgressPolicy.layerOf({
    ownHosts: options.ownHosts ?? [],
    allowedHosts: options.allowedHosts ?? [],
    budgets: { ...ampleBudgets, ...options.budgets },
    ...(options.certificateAuthorities && { certificateAuthorities: options.certificateAuthorities })
  })
  const resolver = Resolver.layerOf({
    timeoutMillis: options.budgets?.dnsMillis ?? ampleBudgets.dnsMillis,
    ...(options.dns && { servers: [options.dns.address] })
  })
  return Effect.map(Layer.build(WebhookSender.layer.pipe(Layer.provide([policy, resolver]))), (context) =>
    Context.get(context, WebhookSender)
  )
}

export const testSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

export const requestTo = (url: string, id = "7f3c2a4e-5b1d-4c7e-9a43-1f0d6b8e2c55"): SendRequest => ({
  url,
  id,
  body: new TextEncoder().encode(JSON.stringify({ id, type: "test", note: "café" })),
  secret: Redacted.make(testSecret)
})

/** The status or the class of failure, which most tests check. */
export const gist = (outcome: SendOutcome): number | string =>
  outcome._tag === "Answered" ? outcome.status : outcome.failure

/** A webhook server on 127.0.0.1, a sender that may reach it, and one delivery to it. */
export const subject = Effect.fnUntraced(function* (
  options: RawReceiverOptions = {},
  egress: EgressOptions = {}
) {
  const receiver = yield* rawReceiver(options)
  const sender = yield* makeSender({ allowedHosts: [`127.0.0.1:${receiver.port}`], ...egress })
  const send = sender.send(requestTo(`http://127.0.0.1:${receiver.port}/hook?a=b`))
  return { receiver, sender, send }
})

/** The other side sees the end of a connection a moment later. */
export const expectClosed = (receiver: RawReceiver) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 500 && receiver.closed() < receiver.connections(); tries++)
      yield* Effect.sleep(10)
    expect(receiver.closed()).toBe(receiver.connections())
  })

/** A server that answers every request with these bytes. */
export const answering = (answer: string | Buffer) => ({
  answer: (socket: { write: (bytes: string | Buffer) => unknown }) => void socket.write(answer)
})
