// A port for a development server: the wanted one, or any that is free.
import { createServer } from "node:net"
import { Effect } from "effect"

const listenOn = (port: number): Effect.Effect<number, Error> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error) => resume(Effect.fail(error)))
    server.listen(port, () => {
      const address = server.address()
      const found = typeof address === "object" && address !== null ? address.port : port
      server.close(() => resume(Effect.succeed(found)))
    })
  })

/** `wanted` where it is free, otherwise a free one. */
export const freePort = (wanted: number): Effect.Effect<number> =>
  listenOn(wanted).pipe(
    Effect.catch(() => listenOn(0)),
    Effect.orDie
  )
