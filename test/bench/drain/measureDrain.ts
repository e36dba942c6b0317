// `bun run bench drain`: how fast due deliveries to one webhook server are sent and recorded, by the service's worker
// and by two job queues, in turn, several rounds.
import { Effect } from "effect"
import { watchMemory } from "../memory.ts"
import { startPostgres } from "../postgres.ts"
import { startReceiver } from "../receiver.ts"
import { settings } from "../settings.ts"
import { type ContenderName, makeContenders } from "./contenders.ts"
import { drainOnce } from "./drainOnce.ts"

/** By contender: deliveries a second in each round, and the peak memory. */
export type DrainResult = Readonly<
  Record<ContenderName, { readonly perSecond: Array<number>; peakMegabytes: number }>
>

export const measureDrain = Effect.gen(function* () {
  const to = yield* startReceiver
  const contenders = yield* makeContenders(yield* startPostgres(), to)
  const result: DrainResult = {
    service: { perSecond: [], peakMegabytes: 0 },
    "graphile-worker": { perSecond: [], peakMegabytes: 0 },
    "pg-boss": { perSecond: [], peakMegabytes: 0 }
  }
  yield* Effect.promise(async () => {
    for (let round = 0; round <= settings.rounds; round++) {
      for (const turn of contenders.keys()) {
        const contender = contenders[(turn + round) % contenders.length]
        if (contender === undefined) continue
        const own = result[contender.name]
        const stopWatching = watchMemory(contender.pid)
        const rate = await drainOnce(contender, to)
        own.peakMegabytes = Math.max(own.peakMegabytes, stopWatching())
        // The first round warms up.
        if (round > 0) own.perSecond.push(rate)
        console.log(`drain  round ${round} ${contender.name}: ${rate.toFixed(0)}/s`)
      }
    }
  })
  return result
})
