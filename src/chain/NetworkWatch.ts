// Allows settlement only on the right chain. Each configured network is checked at start and whenever a node
// reconnects. A wrong network prevents the service from starting in production and switches settlement off in
// development; a silent network does neither.
import { Clock, Data, Deferred, Duration, Effect, Layer, Option, Semaphore } from "effect"
import type { Env } from "../domain/Chain.ts"
import { byEnv, networks } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { Networks } from "../platform/Networks.ts"
import { startPeriodic } from "../platform/workers/startWorker.ts"
import { ChainVerifier } from "./ChainVerifier.ts"
import { RpcPool } from "./RpcPool.ts"
import { type NetworkCheck, type NodeStatus, Verification } from "./Verification.ts"

/** The configured nodes belong to another chain. `message` is the complete sentence for the operator. */
export class WrongNetwork extends Data.TaggedError("WrongNetwork")<{
  readonly variable: string
  readonly message: string
}> {}

export interface NetworkWatchOptions {
  /** The longest that a production start waits for silent nodes. Default 2 s. */
  readonly startTimeout?: Duration.Input
  /** The pause between checks while a network is not confirmed. Default 2 s. */
  readonly retryInterval?: Duration.Input
  /** The pause between checks for nodes that have reconnected. Default 1 s. */
  readonly checkInterval?: Duration.Input
}

const wrongStatuses: ReadonlyArray<NodeStatus> = ["wrong_chain", "no_token", "wrong_domain", "no_tags"]
const wrongNode = ({ nodes }: NetworkCheck) => nodes.find(({ status }) => wrongStatuses.includes(status))

/** On a closed network, no tag decides anything. */
const withoutTags = (check: NetworkCheck): NetworkCheck => ({
  ...check,
  nodes: check.nodes.map(({ host, status }) => ({ host, status: status === "no_tags" ? "ok" : status }))
})

/** While a majority is right, a single wrong node is reported and outvoted. */
const isRight = ({ nodes }: NetworkCheck) =>
  nodes.filter(({ status }) => status === "ok").length > nodes.length / 2

const refusal = ({ env, message }: NetworkCheck) =>
  new WrongNetwork({
    variable: networks[env].nodes.setting,
    message: `${networks[env].nodes.setting}: ${message}. Set it to nodes of ${networks[env].name}.`
  })

/** By this time after a wrong node became right, its recovery has been reported. */
const recoveredMillis = 15_000

type State = "unknown" | "right" | "wrong"

const refutationOf = (state: State): Verification | undefined =>
  state === "right"
    ? undefined
    : Verification.Pending({ reason: state === "wrong" ? "wrong_network" : "rpc_unavailable" })

const make = Effect.fnUntraced(function* (options: NetworkWatchOptions) {
  const { environment } = yield* AppConfig
  const { executes } = yield* Networks
  const chain = yield* ChainVerifier
  const pool = yield* RpcPool
  const retryMillis = Duration.toMillis(options.retryInterval ?? "2 seconds")
  const reconnections = (env: Env) => pool.nodes(env).reduce((sum, node) => sum + node.reconnections(), 0)

  const watchOf = Effect.fnUntraced(function* (env: Env) {
    const first = yield* Deferred.make<NetworkCheck>()
    let state: State = "unknown"
    let seen = 0
    let checkedAt = 0
    let wasWrong = false
    let rightSince = Number.NEGATIVE_INFINITY

    const check = Effect.gen(function* () {
      const connections = reconnections(env)
      const reported = yield* chain.checkNetwork(env)
      const check = executes(env) ? reported : withoutTags(reported)
      seen = connections
      checkedAt = yield* Clock.currentTimeMillis
      const wrong = wrongNode(check)
      if (wasWrong && wrong === undefined) rightSince = checkedAt
      wasWrong = wrong !== undefined
      if (isRight(check)) state = "right"
      // Silent nodes change nothing: their later answers count as usual.
      else if (wrong !== undefined) state = "wrong"
      yield* Deferred.succeed(first, check)
      if (wrong !== undefined) {
        const off = state === "wrong" ? `settlement on ${networks[env].name} is off. ` : ""
        yield* pool.alert("wrong_chain", env, wrong.host, off + refusal(check).message)
      }
      for (const { host, status } of check.nodes) {
        // Nothing waits for the nodes of a closed network.
        if (executes(env) && status === "unavailable")
          yield* pool.alert("unreachable", env, host, "does not answer")
        else if (status === "ok") {
          yield* pool.resolveAlert("unreachable", env, host)
          yield* pool.resolveAlert("wrong_chain", env, host)
        }
      }
    })
    const turn = Semaphore.makeUnsafe(1)
    const checkIfReconnected = turn.withPermits(1)(
      Effect.suspend(() => (reconnections(env) === seen ? Effect.void : check))
    )
    const checkIfDue = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      // Nodes that became right are checked until their recovery is reported.
      (state !== "right" || (!wasWrong && checkedAt - rightSince < recoveredMillis)) &&
      now - checkedAt >= retryMillis
        ? check
        : checkIfReconnected
    )
    const untilNextCheck = Effect.sleep(options.checkInterval ?? "1 second")
    yield* startPeriodic(
      `Checking the nodes of ${networks[env].name}`,
      untilNextCheck,
      Effect.suspend(() => (state === "unknown" ? check : checkIfDue))
    )
    return {
      first: Deferred.await(first),
      checkIfReconnected,
      state: () => state
    }
  })

  const watches = yield* Effect.all(byEnv(watchOf))

  if (environment === "production") {
    yield* Effect.forEach(
      Object.values(watches),
      Effect.fnUntraced(function* ({ first }) {
        const check = yield* Effect.timeoutOption(first, options.startTimeout ?? "2 seconds")
        if (Option.isSome(check) && wrongNode(check.value) !== undefined) return yield* refusal(check.value)
      }),
      { concurrency: "unbounded", discard: true }
    )
  }

  return ChainVerifier.of({
    ...chain,
    verify: Effect.fnUntraced(function* (expectation) {
      const watch = watches[expectation.env]
      // A report that arrives during the first check waits for its result.
      yield* watch.first
      const refutation = refutationOf(watch.state())
      if (refutation !== undefined) return refutation
      const verification = yield* chain.verify(expectation)
      // After a reconnection, the network must be confirmed again before any verdict.
      if (verification._tag !== "Pending") yield* watch.checkIfReconnected
      return refutationOf(watch.state()) ?? verification
    })
  })
})

/** A `ChainVerifier` that proves nothing on a network that is not confirmed as the right one. */
export const layer = (
  options: NetworkWatchOptions = {}
): Layer.Layer<ChainVerifier, WrongNetwork, ChainVerifier | RpcPool | AppConfig> =>
  Layer.effect(ChainVerifier, make(options))

/** For the configured chains. */
export const layerConfig = layer().pipe(Layer.provide(ChainVerifier.layerConfig))
