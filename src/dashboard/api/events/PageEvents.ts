// Notifies open pages that something of their merchant has changed: one query a second for all of them.
import { Context, DateTime, Effect, Layer, Queue, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import { Readiness } from "../../../platform/workers/Readiness.ts"
import { startPeriodic } from "../../../platform/workers/startWorker.ts"
import { PageChangesRepo, versionKey, type Watcher, watcherKey } from "./PageChangesRepo.ts"

/** Pages beyond this number ask every few seconds instead. */
const maxWatchers = 5_000
/** The number of streams of one session; the oldest ends. A browser opens one for each visible tab. */
const maxOfSession = 10
/** The number of queries between two heartbeats, which keep proxies and the server from closing a silent stream. */
const looksBetweenHeartbeats = 8

/**
 * In the format of `text/event-stream`: a message without a name, and the heartbeat, an event that shows pages that the
 * stream is alive.
 */
const changed = "data: changed\n\n"
const heartbeat = "event: alive\ndata: alive\n\n"

interface PageStream extends Watcher {
  readonly queue: Queue.Queue<string>
  version: string | undefined
}

const make = Effect.gen(function* () {
  const repo = yield* PageChangesRepo
  const { stopping } = yield* Readiness
  const streams = new Set<PageStream>()
  let looks = 0

  const end = (watcher: PageStream) =>
    Effect.andThen(
      Effect.sync(() => streams.delete(watcher)),
      Queue.shutdown(watcher.queue)
    )
  const send = (watcher: PageStream, text: string) => Queue.offer(watcher.queue, text)

  const look = Effect.gen(function* () {
    const all = [...streams]
    if (all.length === 0) return
    if (stopping()) return yield* Effect.forEach(all, end, { discard: true })
    if (looks++ % looksBetweenHeartbeats === 0)
      yield* Effect.forEach(all, (watcher) => send(watcher, heartbeat), { discard: true })
    const { versions, watchers } = yield* repo.look(all, yield* DateTime.nowAsDate)
    for (const watcher of all) {
      if (!watchers.has(watcherKey(watcher.session, watcher.tenant.merchantId))) yield* end(watcher)
      const version = versions.get(versionKey(watcher.tenant))
      if (version === watcher.version) continue
      watcher.version = version
      yield* send(watcher, changed)
    }
  })
  yield* startPeriodic("Looking for changes", Effect.sleep("1 second"), look)

  const begin = Effect.fnUntraced(function* ({ session, tenant }: Watcher) {
    if (streams.size >= maxWatchers || stopping()) return undefined
    const own = [...streams].filter((watcher) => watcher.session === session)
    const [oldest] = own
    if (own.length >= maxOfSession && oldest !== undefined) yield* end(oldest)
    const watcher: PageStream = {
      session,
      tenant,
      version: undefined,
      queue: yield* Queue.sliding<string>(4)
    }
    streams.add(watcher)
    yield* send(watcher, heartbeat)
    return watcher
  })

  return {
    // A HEAD request never runs the stream, so it does not count as a watcher.
    watch: (watcher: Watcher) =>
      Stream.unwrap(
        Effect.map(
          Effect.acquireRelease(begin(watcher), (stream) =>
            stream === undefined ? Effect.void : end(stream)
          ),
          (stream) => (stream === undefined ? Stream.empty : Stream.fromQueue(stream.queue))
        )
      ).pipe(Stream.catchCause(() => Stream.empty))
  } satisfies PageEvents["Service"]
})

export class PageEvents extends Context.Service<
  PageEvents,
  {
    /**
     * Server-sent events (HTML, 9.2): a message for each change, the first within a second. Ends with the session or
     * the membership, and when the instance stops.
     */
    readonly watch: (watcher: Watcher) => Stream.Stream<string>
  }
>()("quittance/dashboard/PageEvents") {
  /** With the caller's `PageChangesRepo`, for tests. */
  static readonly layerOf: Layer.Layer<PageEvents, never, PageChangesRepo> = Layer.effect(PageEvents, make)

  static readonly layer: Layer.Layer<PageEvents, never, SqlClient.SqlClient> = PageEvents.layerOf.pipe(
    Layer.provide(PageChangesRepo.layer)
  )
}
