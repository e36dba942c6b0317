// `bun run bench drain`: how fast due deliveries to one receiver are sent and recorded, by the
// service's worker and by two job queues, in turn, several rounds.
import { Effect } from "effect"
import { watchMemory } from "../memory.ts"
import { startPostgres } from "../postgres.ts"
import { type Receiver, startReceiver } from "../receiving.ts"
import { settings } from "../settings.ts"
import { type Contender, type ContenderName, makeContenders } from "./contenders.ts"
import { drainOnce } from "./drainOnce.ts"

export interface DrainResult {
  readonly deliveries: number
  /** By contender: what it ran with, and deliveries a second of each round. */
  readonly contenders: ReadonlyArray<{
    readonly name: ContenderName
    readonly settings: object
    readonly perSecond: ReadonlyArray<number>
    readonly peakMegabytes: number
  }>
}

const told = (name: string, what: string, perSecond: number) =>
  console.log(`drain  ${what.padEnd(9)} ${name.padEnd(31)} ${perSecond.toFixed(0).padStart(6)}/s`)

/** The candidate that drains fastest; each runs warm. */
const choose = Effect.fnUntraced(function* (contender: Contender, to: Receiver) {
  let best = { settings: contender.candidates[0] ?? {}, perSecond: 0 }
  if (contender.candidates.length === 1) return best.settings
  for (const candidate of contender.candidates) {
    const perSecond = yield* Effect.scoped(
      Effect.flatMap(contender.start(candidate), () =>
        Effect.promise(async () => {
          await drainOnce(contender, to)
          return drainOnce(contender, to)
        })
      )
    )
    told(`${contender.name} ${JSON.stringify(candidate)}`, "tried", perSecond)
    if (perSecond > best.perSecond) best = { settings: candidate, perSecond }
  }
  return best.settings
})

export const measureDrain = Effect.gen(function* () {
  const { url } = yield* startPostgres()
  const to = yield* startReceiver
  const contenders = yield* makeContenders(url, to)
  const chosen = new Map<Contender, object>()
  for (const contender of contenders) chosen.set(contender, yield* choose(contender, to))
  const running = yield* Effect.forEach(contenders, (contender) =>
    Effect.map(contender.start(chosen.get(contender) ?? {}), ({ pid }) => ({ contender, pid, peak: 0 }))
  )
  const perSecond = new Map<ContenderName, Array<number>>()
  const peaks = new Map<ContenderName, number>()
  yield* Effect.promise(async () => {
    for (let round = 0; round <= settings.rounds; round++) {
      for (let turn = 0; turn < running.length; turn++) {
        const one = running[(turn + round) % running.length]
        if (one === undefined) continue
        const { name } = one.contender
        const memory = watchMemory(one.pid)
        const rate = await drainOnce(one.contender, to)
        peaks.set(name, Math.max(peaks.get(name) ?? 0, memory.stop()))
        told(name, round === 0 ? "warm-up" : `round ${round}`, rate)
        if (round > 0) perSecond.set(name, [...(perSecond.get(name) ?? []), rate])
      }
    }
  })
  const result: DrainResult = {
    deliveries: settings.drain,
    contenders: contenders.map((contender) => ({
      name: contender.name,
      settings: chosen.get(contender) ?? {},
      perSecond: perSecond.get(contender.name) ?? [],
      peakMegabytes: peaks.get(contender.name) ?? Number.NaN
    }))
  }
  return result
})
