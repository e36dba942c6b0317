// A WalletConnect relay, as much as a session needs: messages that one side publishes on a topic reach the others.
import type { ServerWebSocket } from "bun"
import { Schema } from "effect"

const Id = Schema.Union([Schema.Number, Schema.String])
const Topic = Schema.Struct({ topic: Schema.String })
const Published = Schema.Struct({ topic: Schema.String, message: Schema.String, tag: Schema.Int })
const Call = Schema.Union([
  Schema.Struct({ id: Id, method: Schema.Literal("irn_subscribe"), params: Topic }),
  Schema.Struct({
    id: Id,
    method: Schema.Literal("irn_batchSubscribe"),
    params: Schema.Struct({ topics: Schema.Array(Schema.String) })
  }),
  Schema.Struct({ id: Id, method: Schema.Literal("irn_unsubscribe"), params: Topic }),
  Schema.Struct({ id: Id, method: Schema.Literal("irn_batchFetchMessages") }),
  Schema.Struct({ id: Id, method: Schema.Literal("irn_publish"), params: Published }),
  Schema.Struct({
    id: Id,
    method: Schema.Literal("wc_proposeSession"),
    params: Schema.Struct({ pairingTopic: Schema.String, sessionProposal: Schema.String })
  }),
  Schema.Struct({
    id: Id,
    method: Schema.Literal("wc_approveSession"),
    params: Schema.Struct({
      sessionTopic: Schema.String,
      pairingTopic: Schema.String,
      sessionProposalResponse: Schema.String,
      sessionSettlementRequest: Schema.String
    })
  })
])
const decodeCall = Schema.decodeUnknownOption(Schema.fromJsonString(Call))

type Side = ServerWebSocket<{ readonly topics: Map<string, string> }>
type Message = typeof Published.Type

export interface WalletConnectRelay {
  readonly url: string
  /** The number of sides that have connected. */
  /** While silent it accepts connections and calls, and answers none. */
  readonly silence: (silent: boolean) => void
  readonly stop: () => Promise<void>
}

export const startWalletConnectRelay = (): WalletConnectRelay => {
  const sides = new Set<Side>()
  /** Messages on topics without a subscriber. */
  const kept = new Map<string, ReadonlyArray<Message>>()
  let count = 0
  let silent = false

  const send = (side: Side, subscription: string, { message, tag, topic }: Message) =>
    side.send(
      JSON.stringify({
        id: Date.now() * 1000 + ++count,
        jsonrpc: "2.0",
        method: "irn_subscription",
        params: { id: subscription, data: { topic, message, tag, publishedAt: Date.now() } }
      })
    )
  const publish = (from: Side, message: Message) => {
    const others = [...sides].filter((side) => side !== from && side.data.topics.has(message.topic))
    if (others.length === 0) kept.set(message.topic, [...(kept.get(message.topic) ?? []), message])
    for (const side of others) send(side, side.data.topics.get(message.topic) ?? "", message)
  }
  const subscribe = (side: Side, topic: string): string => {
    const subscription = `subscription-${++count}`
    side.data.topics.set(topic, subscription)
    const waiting = kept.get(topic) ?? []
    kept.delete(topic)
    // Sent after the answer that contains the subscription's id.
    setTimeout(() => {
      for (const message of waiting) send(side, subscription, message)
    }, 20)
    return subscription
  }
  const answer = (side: Side, call: typeof Call.Type): unknown => {
    switch (call.method) {
      case "irn_subscribe":
        return subscribe(side, call.params.topic)
      case "irn_batchSubscribe":
        return call.params.topics.map((topic) => subscribe(side, topic))
      case "irn_unsubscribe":
        return side.data.topics.delete(call.params.topic)
      case "irn_batchFetchMessages":
        return { messages: [], hasMore: false }
      case "irn_publish":
        publish(side, call.params)
        return true
      case "wc_proposeSession": {
        const { pairingTopic, sessionProposal } = call.params
        subscribe(side, pairingTopic)
        publish(side, { topic: pairingTopic, message: sessionProposal, tag: 1100 })
        return true
      }
      case "wc_approveSession": {
        const { pairingTopic, sessionProposalResponse, sessionSettlementRequest, sessionTopic } = call.params
        subscribe(side, sessionTopic)
        publish(side, { topic: pairingTopic, message: sessionProposalResponse, tag: 1101 })
        publish(side, { topic: sessionTopic, message: sessionSettlementRequest, tag: 1102 })
        return true
      }
    }
  }

  const server = Bun.serve<{ readonly topics: Map<string, string> }>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, bun): Response | undefined =>
      bun.upgrade(request, { data: { topics: new Map() } }) ? undefined : new Response("a relay"),
    websocket: {
      open: (side) => {
        sides.add(side)
      },
      close: (side) => {
        sides.delete(side)
      },
      message: (side, text) => {
        if (silent) return
        const call = decodeCall(String(text))
        if (call._tag === "Some")
          side.send(
            JSON.stringify({ id: call.value.id, jsonrpc: "2.0", result: answer(side, call.value) ?? true })
          )
      }
    }
  })
  return {
    url: `ws://127.0.0.1:${server.port}`,
    silence: (on) => {
      silent = on
    },
    stop: () => server.stop(true)
  }
}
