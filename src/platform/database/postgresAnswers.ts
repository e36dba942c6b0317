// Probes a socket for a Postgres that responds.
import { connect } from "node:net"

/** SSLRequest: its length and its code (Postgres protocol 3.0). */
const sslRequest = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47)
const answerMillis = 1_000

/**
 * True if a Postgres responds on the socket within a second. A server that is being killed or is suspended still
 * accepts connections, but does not respond.
 */
export const postgresAnswers = (path: string): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ path })
    const end = (answered: boolean) => () => {
      clearTimeout(timer)
      socket.destroy()
      done(answered)
    }
    const timer = setTimeout(end(false), answerMillis)
    socket.once("connect", () => socket.write(sslRequest))
    socket.once("data", end(true))
    socket.once("end", end(false))
    socket.once("error", end(false))
  })
