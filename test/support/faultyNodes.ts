// Verdicts over nodes that misbehave in front of a real one.
import { Effect, Layer } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import type { Expectation } from "../../src/chain/Verification.ts"
import { amount, expectationOf, pay, person, verdictFor, verifierOver } from "./anvilSuite.ts"
import { type Behaviour, rpcProxy } from "./rpcProxy.ts"

/** A real payment, one block deep. */
export const paid = Effect.gen(function* () {
  const chain = yield* LocalChain
  const [buyer, merchant] = yield* Effect.all([person(40), person(41)])
  yield* chain.mint(buyer, 10_000_000n)
  const hash = yield* pay(buyer, merchant, amount)
  yield* chain.mine()
  return { chain, buyer, merchant, hash, expected: expectationOf(hash, buyer, merchant) }
})

/** The verdict of a verifier over one proxy for each behaviour; undefined is an honest node. */
export const verdictOver = Effect.fnUntraced(function* (
  expected: Expectation,
  behaviours: ReadonlyArray<Behaviour | undefined>,
  timeout = 10_000
) {
  const { rpcUrl } = yield* LocalChain
  const nodes = yield* Effect.forEach(behaviours, (behaviour) => rpcProxy(rpcUrl, behaviour))
  const urls = nodes.map(({ url }) => url)
  // The pool outlives the verdict, so that a slow dissenting answer is processed too.
  const verifier = yield* Layer.build(verifierOver(urls, { timeout }))
  const verdict = yield* verdictFor(expected).pipe(Effect.provide(verifier))
  return { verdict, nodes }
})

export const only =
  (method: string, reply: ReturnType<Behaviour>): Behaviour =>
  (asked) =>
    asked === method ? reply : undefined
export const all =
  (reply: () => ReturnType<Behaviour>): Behaviour =>
  (method) =>
    method === "eth_chainId" ? undefined : reply()

export const silent: Behaviour = all(() => new Promise(() => undefined))
export const absent = only("eth_getTransactionReceipt", { result: null })
export const text = (body: string, status = 200) => all(() => ({ raw: new Response(body, { status }) }))
