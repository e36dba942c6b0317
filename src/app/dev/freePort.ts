// A port for a development server: the requested port, or any free one.
import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { Effect } from "effect"

const listenOn = (port: number): Effect.Effect<number, Error> =>
  Effect.callback((resume) => {
    const server = createServer()
    server.once("error", (error) => resume(Effect.fail(error)))
    server.listen(port, () => server.close(() => resume(Effect.succeed(port))))
  })

/** Below the range of outgoing connections (from 32,768 on Linux), one of which could take the port first. */
const anyPort = Effect.suspend(() => listenOn(randomInt(20_000, 32_768))).pipe(Effect.retry({ times: 20 }))

/** `wanted` if it is free; otherwise, and for 0, any free port. */
export const freePort = (wanted: number): Effect.Effect<number> =>
  (wanted === 0 ? anyPort : Effect.catch(listenOn(wanted), () => anyPort)).pipe(Effect.orDie)
