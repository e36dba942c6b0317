// An HTTP server of a test, on a free port of this machine; it ends with the scope.
import { Effect } from "effect"

export const listening = (fetch: (request: Request) => Response | Promise<Response>) =>
  Effect.acquireRelease(
    Effect.sync(() => Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 60, fetch })),
    (server) => Effect.promise(() => server.stop(true))
  )
