// The nodes of each environment. Facts that decide about money are read from all nodes and count only if a majority
// agrees. A node that lags, fails or is silent has no say; one that contradicts the others raises an alert.

import { Context, Deferred, Effect, Exit, Layer, type Result, type Scope } from "effect"
import { toHex } from "viem"
import type { Env } from "../domain/Chain.ts"
import { blocksIn, byEnv } from "../domain/networks.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { type ChainAlertKind, ChainAlerts, ChainRecoveries } from "./ChainAlerts.ts"
import type { NodeFailure } from "./RpcPool/NodeFailure.ts"
import { makeNodeAlerts } from "./RpcPool/nodeAlerts.ts"
import {
  defaultRpcLimits,
  makeRpcNode,
  type RpcLimits,
  type RpcNode,
  type RpcUrl
} from "./RpcPool/RpcNode.ts"
import { Bytes, Head } from "./RpcSchemas.ts"
import { RpcUnavailable } from "./Verification.ts"

type Shape = typeof RpcPool.Service

export interface RpcPoolOptions extends Partial<RpcLimits> {
  /** Node URLs by environment. With two, both must agree; three or more tolerate a failing minority. */
  readonly urls: { readonly [E in Env]?: ReadonlyArray<RpcUrl> }
}

export interface Ballot<A> {
  readonly node: RpcNode
  readonly answer: Result.Result<A, NodeFailure>
}

export interface Poll<A> {
  /** At least a majority of equal answers; undefined if there is none. */
  readonly agreed: readonly [A, ...ReadonlyArray<A>] | undefined
  /** The number of configured nodes, and of nodes in a majority. */
  readonly nodes: number
  readonly majority: number
  /** Answers and failures that arrived before the decision. */
  readonly ballots: ReadonlyArray<Ballot<A>>
  /** True if two nodes contradict each other. */
  readonly contradiction: boolean
}

export interface Question<A> {
  readonly ask: (node: RpcNode) => Effect.Effect<A, NodeFailure>
  /** Equal answers have equal keys. */
  readonly key: (answer: A) => string
  /** True if two different answers cannot both be honest. */
  readonly contradicts: (one: A, other: A) => boolean
  /** True if the minority is awaited for a moment. */
  readonly awaitsAll?: boolean
}

/** The time to wait for a minority after a majority has answered. */
const minorityWaitMillis = 500
/** A node may be this far behind or ahead of the others, in the time of the chain's blocks. */
const maxHeadDifferenceMillis = 60_000
/** Limits the work that a hostile contract can cause on a node: 10 million. */
const callGas = "0x989680"

export const unavailable = (reason: RpcUnavailable["reason"], env: Env): RpcUnavailable => {
  const messages = {
    unconfigured: `no RPC node is configured for ${env}`,
    rpc_unavailable: `too few RPC nodes of ${env} answered`,
    disagreement: `the RPC nodes of ${env} contradict each other`
  }
  return new RpcUnavailable({ reason, message: messages[reason] })
}

type Nodes = { readonly [E in Env]: ReadonlyArray<RpcNode> }

const make = Effect.fnUntraced(function* (nodesOn: Nodes): Effect.fn.Return<Shape, never, Scope.Scope> {
  const notify = yield* ChainAlerts
  const notifyRecovery = yield* ChainRecoveries
  const scope = yield* Effect.scope
  const alerts = makeNodeAlerts(nodesOn, notify, notifyRecovery, scope)
  const { alert, alertFailure, resolveAlert, answeredWell } = alerts

  const poll: Shape["poll"] = Effect.fnUntraced(function* <A>(env: Env, question: Question<A>) {
    const nodes = nodesOn[env]
    const majority = Math.floor(nodes.length / 2) + 1
    const decided = yield* Deferred.make<Poll<A>>()
    const groups = new Map<string, [A, ...Array<A>]>()
    const ballots: Array<Ballot<A>> = []
    let contradiction = false

    const decide = (agreed: Poll<A>["agreed"]) =>
      Deferred.succeed(decided, {
        agreed,
        nodes: nodes.length,
        majority,
        ballots: [...ballots],
        contradiction
      })

    const count = Effect.fnUntraced(function* (node: RpcNode, answer: Result.Result<A, NodeFailure>) {
      ballots.push({ node, answer })
      if (answer._tag === "Failure") {
        yield* alertFailure(env, node, answer.failure)
      } else {
        const key = question.key(answer.success)
        const group = groups.get(key)
        if (group === undefined) groups.set(key, [answer.success])
        else group.push(answer.success)
        const opposed = [...groups].some(
          ([otherKey, [otherAnswer]]) => otherKey !== key && question.contradicts(otherAnswer, answer.success)
        )
        if (opposed) contradiction = true
        const winner = [...groups.values()].find((members) => members.length >= majority)
        if (winner !== undefined) {
          if (question.awaitsAll !== true || ballots.length === nodes.length) yield* decide([...winner])
          else if (winner.length === majority)
            yield* Effect.forkIn(
              Effect.delay(
                Effect.suspend(() => decide([...winner])),
                minorityWaitMillis
              ),
              scope
            )
          if (winner === groups.get(key)) yield* resolveAlert("disagreement", env, node.host)
        }
        yield* answeredWell(env, node)
      }
      if (ballots.length === nodes.length) {
        if (contradiction) yield* alertDissent(env, nodes, groups, ballots, question)
        // Once a majority exists, no further answer is awaited, whichever came last.
        yield* decide([...groups.values()].find((members) => members.length >= majority))
      }
    })

    // In the pool's scope, so that a slow dissenter still counts after the decision.
    for (const node of nodes) {
      yield* question.ask(node).pipe(
        Effect.result,
        Effect.flatMap((answer) => count(node, answer)),
        // When the pool closes, or a count fails, pending callers are released rather than left hanging.
        Effect.onError(() => decide(undefined)),
        Effect.forkIn(scope)
      )
    }
    if (nodes.length === 0) yield* decide(undefined)
    return yield* Deferred.await(decided)
  })

  const agreedAnswer: Shape["agreedAnswer"] = (env, ask, key = String) =>
    Effect.map(poll(env, { ask, key, contradicts: () => false }), ({ agreed }) => agreed?.[0])

  /** Alerts about the minority; without a majority, about every node that took part. */
  const alertDissent = <A>(
    env: Env,
    nodes: ReadonlyArray<RpcNode>,
    groups: ReadonlyMap<string, ReadonlyArray<A>>,
    ballots: ReadonlyArray<Ballot<A>>,
    question: Question<A>
  ) => {
    const winner = [...groups].find(([, members]) => members.length > nodes.length / 2)?.[0]
    return Effect.forEach(ballots, ({ node, answer }) =>
      answer._tag === "Success" && question.key(answer.success) !== winner
        ? alert("disagreement", env, node.host, "contradicts the other nodes")
        : Effect.void
    )
  }

  const first: Shape["first"] = (env, ask) => {
    const [head, ...tail] = nodesOn[env]
    if (head === undefined) return Effect.fail(unavailable("unconfigured", env))
    const attempt = (node: RpcNode) =>
      ask(node).pipe(
        Effect.tapError((cause) => alertFailure(env, node, cause)),
        Effect.tap(() => answeredWell(env, node))
      )
    return tail
      .reduce((before, node) => Effect.catch(before, () => attempt(node)), attempt(head))
      .pipe(Effect.mapError(() => unavailable("rpc_unavailable", env)))
  }

  const gatherFrom = Effect.fnUntraced(function* <A>(
    env: Env,
    ask: (node: RpcNode) => Effect.Effect<A, NodeFailure>,
    isEnough: (answer: A) => boolean
  ): Effect.fn.Return<ReadonlyArray<{ readonly node: RpcNode; readonly answer: A }>, RpcUnavailable> {
    const nodes = nodesOn[env]
    if (nodes.length === 0) return yield* unavailable("unconfigured", env)
    const majority = Math.floor(nodes.length / 2) + 1
    const answers: Array<{ readonly node: RpcNode; readonly answer: A }> = []
    const majorityAnswered = yield* Deferred.make<void>()
    const all = yield* Deferred.make<void>()
    let answered = 0
    for (const node of nodes) {
      yield* ask(node).pipe(
        Effect.matchEffect({
          onFailure: (cause) => alertFailure(env, node, cause),
          onSuccess: (answer) => {
            answers.push({ node, answer })
            return Effect.andThen(
              isEnough(answer) ? Deferred.succeed(all, undefined) : Effect.void,
              answeredWell(env, node)
            )
          }
        }),
        Effect.ensuring(
          Effect.suspend(() => {
            answered += 1
            if (answers.length >= majority) Deferred.doneUnsafe(majorityAnswered, Exit.void)
            if (answered === nodes.length) Deferred.doneUnsafe(all, Exit.void)
            return Effect.void
          })
        ),
        // In the pool's scope, so that late responses are still recorded.
        Effect.forkIn(scope)
      )
    }
    yield* Effect.raceFirst(
      Deferred.await(all),
      Effect.andThen(Deferred.await(majorityAnswered), Effect.sleep(minorityWaitMillis))
    )
    const arrived = [...answers]
    return arrived.length >= majority || arrived.some(({ answer }) => isEnough(answer))
      ? arrived
      : yield* unavailable("rpc_unavailable", env)
  })

  const gather: Shape["gather"] = (env, ask, isEnough = () => false) =>
    Effect.map(gatherFrom(env, ask, isEnough), (all) => all.map(({ answer }) => answer))

  /** The farthest answer that a majority of the nodes has reached or passed. */
  const farthestOf = <A>(env: Env, answers: ReadonlyArray<A>, height: (answer: A) => bigint) => {
    const farthest = answers.toSorted((left, right) => (height(left) < height(right) ? 1 : -1))
    const agreed = farthest[Math.floor(nodesOn[env].length / 2)]
    return agreed === undefined ? unavailable("rpc_unavailable", env) : Effect.succeed(agreed)
  }

  const majorityHighest: Shape["majorityHighest"] = Effect.fnUntraced(function* (env, ask, height) {
    return yield* farthestOf(env, yield* gather(env, ask), height)
  })

  const head: Shape["head"] = Effect.fnUntraced(function* (env) {
    const all = yield* gatherFrom(
      env,
      (node) => node.call("eth_getBlockByNumber", ["latest", false], Head),
      () => false
    )
    const agreed = yield* farthestOf(
      env,
      all.map(({ answer }) => answer),
      ({ number }) => number
    )
    const tolerated = blocksIn(env, maxHeadDifferenceMillis)
    for (const { answer, node } of all) {
      const ahead = answer.number - agreed.number
      if (ahead > tolerated || -ahead > tolerated)
        yield* alert(
          "disagreement",
          env,
          node.host,
          `is ${ahead < 0n ? -ahead : ahead} blocks ${ahead < 0n ? "behind" : "ahead of"} the other nodes`
        )
    }
    return agreed
  })

  const pollLatest: Shape["pollLatest"] = Effect.fnUntraced(function* (env, { ask, ...question }) {
    const latest = yield* poll(env, {
      ...question,
      ask: (node) => ask(node, "latest"),
      contradicts: () => false
    })
    const answered = latest.ballots.filter(({ answer }) => answer._tag === "Success")
    if (latest.agreed !== undefined || answered.length < latest.majority) return latest
    // Each node answered for its own newest block; only answers for the same block can contradict each other.
    const { number } = yield* head(env)
    return yield* poll(env, { ...question, ask: (node) => ask(node, toHex(number)) })
  })

  const agreedCall: Shape["agreedCall"] = Effect.fnUntraced(function* (env, transaction) {
    if (nodesOn[env].length === 0) return yield* unavailable("unconfigured", env)
    const result = yield* pollLatest<`0x${string}` | "reverted">(env, {
      ask: (node, block) =>
        node.call("eth_call", [{ ...transaction, gas: callGas }, block], Bytes).pipe(
          Effect.catchIf(
            (cause) => cause.kind === "reverted",
            () => Effect.succeed("reverted" as const)
          )
        ),
      key: (answer) => answer,
      contradicts: () => true
    })
    if (result.agreed !== undefined) return result.agreed[0]
    return yield* unavailable(result.contradiction ? "disagreement" : "rpc_unavailable", env)
  })

  return {
    nodes: (env) => nodesOn[env],
    poll,
    agreedAnswer,
    gather,
    majorityHighest,
    head,
    first,
    pollLatest,
    agreedCall,
    alert,
    alertFailure,
    resolveAlert
  }
})

export class RpcPool extends Context.Service<
  RpcPool,
  {
    /** Empty when the environment has no node. */
    readonly nodes: (env: Env) => ReadonlyArray<RpcNode>
    /** Queries all nodes at once; returns as soon as a majority agrees, or all have answered. */
    readonly poll: <A>(env: Env, question: Question<A>) => Effect.Effect<Poll<A>>
    /**
     * The answer that a majority of the nodes gives; undefined if there is none. For questions to which honest nodes
     * may answer differently for a while: a different answer raises no alert.
     */
    readonly agreedAnswer: <A>(
      env: Env,
      ask: Question<A>["ask"],
      key?: Question<A>["key"]
    ) => Effect.Effect<A | undefined>
    /**
     * Collects answers until `isEnough`, until all nodes have answered, or for a moment after a majority has. Fails
     * if fewer than a majority answer.
     */
    readonly gather: <A>(
      env: Env,
      ask: (node: RpcNode) => Effect.Effect<A, NodeFailure>,
      isEnough?: (answer: A) => boolean
    ) => Effect.Effect<ReadonlyArray<A>, RpcUnavailable>
    /**
     * The farthest answer that a majority of the nodes has reached, by `height`: a node that has stopped delays
     * nothing, and a node that runs ahead is ignored.
     */
    readonly majorityHighest: <A>(
      env: Env,
      ask: (node: RpcNode) => Effect.Effect<A, NodeFailure>,
      height: (answer: A) => bigint
    ) => Effect.Effect<A, RpcUnavailable>
    /** The newest block that a majority has. A node far behind or ahead raises an alert. */
    readonly head: (env: Env) => Effect.Effect<Head, RpcUnavailable>
    /** The first answer in the order of the URLs, for figures that decide nothing. */
    readonly first: <A>(
      env: Env,
      ask: (node: RpcNode) => Effect.Effect<A, NodeFailure>
    ) => Effect.Effect<A, RpcUnavailable>
    /**
     * Like `poll`, for the state at the latest block, which the question takes as a parameter. Nodes that differ are
     * queried once more about one block.
     */
    readonly pollLatest: <A>(
      env: Env,
      question: Omit<Question<A>, "ask"> & {
        readonly ask: (node: RpcNode, block: string) => Effect.Effect<A, NodeFailure>
      }
    ) => Effect.Effect<Poll<A>, RpcUnavailable>
    /** `eth_call` at the latest block whose result a majority confirms. */
    readonly agreedCall: (
      env: Env,
      transaction: { readonly to?: string; readonly data: string }
    ) => Effect.Effect<`0x${string}` | "reverted", RpcUnavailable>
    readonly alert: (kind: ChainAlertKind, env: Env, host: string, message: string) => Effect.Effect<void>
    /** Raises the alert that this failure of one node calls for, if any. */
    readonly alertFailure: (env: Env, node: RpcNode, cause: NodeFailure) => Effect.Effect<void>
    /** Resolves the node's alert of this kind, once it has worked for a while. */
    readonly resolveAlert: (kind: ChainAlertKind, env: Env, host: string) => Effect.Effect<void>
  }
>()("quittance/chain/RpcPool") {
  /** With the caller's nodes, for example in a simulation. */
  static readonly layerNodes = (nodes: Nodes): Layer.Layer<RpcPool> => Layer.effect(RpcPool, make(nodes))

  static readonly layer = (options: RpcPoolOptions): Layer.Layer<RpcPool> => {
    const limits: RpcLimits = { ...defaultRpcLimits, ...options }
    const nodesOf = (env: Env) => (options.urls[env] ?? []).map((url) => makeRpcNode(env, url, limits))
    return Layer.effect(
      RpcPool,
      Effect.suspend(() => make(byEnv(nodesOf)))
    )
  }

  /** The configured nodes. */
  static readonly layerConfig: Layer.Layer<RpcPool, never, AppConfig> = Layer.unwrap(
    Effect.map(AppConfig, ({ rpcUrls }) => RpcPool.layer({ urls: rpcUrls }))
  )
}
