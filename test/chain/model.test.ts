// Random histories of the in-memory chain against a model that knows only what
// was sent and mined: no verdict may differ, and no transfer may settle twice.
import { expect, test } from "bun:test"
import { Effect } from "effect"
import fc from "fast-check"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { MemoryChain, type MemoryFault } from "../../src/chain/MemoryChain.ts"
import type { Address, TransactionHash } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { row } from "../support/attackRows.ts"
import { expectation, otherToken, payer, receiver, thief, usdc } from "../support/rawReceipts.ts"

interface Move {
  readonly from: Address
  readonly to: Address
  readonly amount: bigint
  readonly token: Address
}
interface Sent {
  readonly hash: TransactionHash
  readonly moves: ReadonlyArray<Move>
}

const start = 50n
const people = fc.constantFrom(payer, receiver, thief)
const move = fc.record({
  from: people,
  to: people,
  amount: fc.bigInt({ min: 0n, max: 20n }),
  token: fc.constantFrom(usdc, usdc, usdc, otherToken)
})
const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      moves: fc.array(move, { minLength: 1, maxLength: 3 })
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("mine" as const), blocks: fc.integer({ min: 1, max: 3 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("reorganise" as const),
      depth: fc.integer({ min: 1, max: 4 }),
      keep: fc.boolean()
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("lag" as const), blocks: fc.integer({ min: 0, max: 2 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("fault" as const),
      fault: fc.constantFrom<MemoryFault>("none", "none", "fail", "lie")
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("report" as const),
      which: fc.nat(),
      by: people,
      to: people,
      amount: fc.bigInt({ min: 1n, max: 20n }),
      guess: fc.boolean()
    })
  }
)

const play = (commands: ReadonlyArray<typeof command extends fc.Arbitrary<infer C> ? C : never>) =>
  Effect.gen(function* () {
    const chain = yield* MemoryChain
    const verifier = yield* ChainVerifier
    yield* chain.automine(false)
    for (const person of [payer, receiver, thief]) yield* chain.fund(person, { usdcAtomic: start })

    let blocks: Array<ReadonlyArray<Sent>> = [[]]
    let waiting: Array<Sent> = []
    let lag = 0
    let fault: MemoryFault = "none"
    const everSent: Array<Sent> = []
    const claimed = new Map<string, Set<number>>()
    const mine = () => {
      blocks.push(waiting)
      waiting = []
    }

    /** Replays the whole chain: which transactions succeeded. */
    const successes = (): ReadonlySet<TransactionHash> => {
      const balances = new Map<Address, bigint>([
        [payer, start],
        [receiver, start],
        [thief, start]
      ])
      const good = new Set<TransactionHash>()
      for (const { hash, moves } of blocks.flat()) {
        const usdcMoves = moves.filter(({ token }) => token === usdc)
        const spends = (who: Address) =>
          usdcMoves.reduce((sum, one) => (one.from === who ? sum + one.amount : sum), 0n)
        if ([payer, receiver, thief].some((who) => spends(who) > (balances.get(who) ?? 0n))) continue
        good.add(hash)
        for (const { amount, from, to } of usdcMoves) {
          balances.set(from, (balances.get(from) ?? 0n) - amount)
          balances.set(to, (balances.get(to) ?? 0n) + amount)
        }
      }
      return good
    }

    for (const step of commands) {
      switch (step.do) {
        case "send": {
          const hash = yield* chain.batch(step.moves)
          const sent = { hash, moves: step.moves }
          waiting.push(sent)
          everSent.push(sent)
          break
        }
        case "mine":
          yield* chain.mine(step.blocks)
          for (let block = 0; block < step.blocks; block++) mine()
          break
        case "reorganise": {
          yield* chain.reorganise(step.depth, step.keep ? "keep" : "drop")
          const removed = blocks.slice(Math.max(1, blocks.length - step.depth))
          blocks = blocks.slice(0, blocks.length - removed.length)
          if (step.keep) waiting = [...removed.flat(), ...waiting]
          for (const _ of removed) mine()
          break
        }
        case "lag":
          lag = step.blocks
          yield* chain.lag(lag)
          break
        case "fault":
          fault = step.fault
          yield* chain.fault(fault)
          break
        case "report": {
          const sent = everSent[step.which % Math.max(1, everSent.length)]
          if (sent === undefined) break
          // Half of the reports are honest about one of the moves.
          const honest = step.guess ? undefined : sent.moves.find(({ amount }) => amount > 0n)
          const wanted = {
            payer: honest?.from ?? step.by,
            receiver: honest?.to ?? step.to,
            amount: AtomicUsdc.make(honest?.amount ?? step.amount)
          }
          const equal = `${sent.hash} ${wanted.payer} ${wanted.receiver} ${wanted.amount}`
          const taken = claimed.get(equal) ?? new Set<number>()
          const result = yield* verifier.verify(
            expectation({
              ...wanted,
              transactionId: sent.hash,
              notBefore: new Date(0),
              excludeOrdinals: [...taken]
            })
          )

          const height = blocks.findIndex((block) => block.some(({ hash }) => hash === sent.hash))
          const head = Math.max(0, blocks.length - 1 - lag)
          const exact = sent.moves.flatMap(({ amount, from, to, token }, at) =>
            token === usdc &&
            from === wanted.payer &&
            to === wanted.receiver &&
            amount === wanted.amount &&
            from !== to
              ? [at]
              : []
          )
          const free = exact.find((_, ordinal) => !taken.has(ordinal))
          const expected =
            fault === "fail"
              ? "rpc_unavailable"
              : fault === "lie"
                ? "disagreement"
                : height < 0 || height > head
                  ? "not_found"
                  : !successes().has(sent.hash)
                    ? "reverted"
                    : exact.length === 0
                      ? "mismatch"
                      : free === undefined
                        ? "already_used"
                        : head - height < 1
                          ? "confirmations"
                          : `verified ${free}`
          const named = new Set(["amount", "payer", "receiver", "token", "no_transfer"])
          const actual =
            result._tag === "Verified"
              ? `verified ${result.logPosition}`
              : named.has(result.reason)
                ? "mismatch"
                : result.reason
          expect(actual).toBe(expected)
          if (result._tag === "Verified") {
            expect(taken.has(result.ordinal)).toBe(false)
            claimed.set(equal, new Set([...taken, result.ordinal]))
          }
        }
      }
    }
  }).pipe(Effect.provide(ChainVerifier.layerMemory, { local: true }))

test(`${row.oneForTwo}; ${row.reorganised}; ${row.rpcLags}: 1,000 random histories, 0 wrong verdicts`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 40, size: "max" }), (commands) =>
      Effect.runPromise(play(commands))
    ),
    { numRuns: 1000 }
  )
}, 180_000)
