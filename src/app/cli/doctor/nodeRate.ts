// How fast a node answers, and whether it answers as many requests as the service sends at once.
import { Effect, Result } from "effect"
import { maxConcurrentCalls, type SingleNode } from "../../../chain/makeSingleNode.ts"
import { Quantity } from "../../../chain/RpcSchemas.ts"
import { ok, warning } from "./Finding.ts"

export const nodeRate = Effect.fnUntraced(function* (about: string, { call }: SingleNode) {
  const started = performance.now()
  const answers = yield* Effect.forEach(
    Array.from({ length: maxConcurrentCalls }),
    () => Effect.result(call("eth_blockNumber", [], Quantity)),
    { concurrency: "unbounded" }
  )
  const millis = Math.round(performance.now() - started)
  const refused = answers.filter(Result.isFailure)
  const [first] = refused
  return first === undefined
    ? ok(about, `It answers ${maxConcurrentCalls} requests in ${millis} ms`)
    : warning(
        about,
        `It rejects ${refused.length} of ${maxConcurrentCalls} concurrent requests: ${first.failure.nodeMessage ?? first.failure.message}. Payments may settle late; raise the rate limit of its plan.`
      )
})
