// Bytes to a server as they are, over TCP or TLS, and all that it answers.
import { connect, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { Effect } from "effect"
import { caseMillis } from "./ask.ts"
import { type Reading, readAnswers } from "./readAnswers.ts"

export interface Conversation extends Reading {
  readonly connected: boolean
  readonly closed: boolean
}

/** Milliseconds in which a further answer would have come. */
const quietMillis = 300
/** Milliseconds that a server is given for the first answer before the rest is sent all the same. */
const firstMillis = 1_000

const dial = (url: URL, onConnected: () => void): Socket => {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const isTls = url.protocol === "https:"
  const port = url.port === "" ? (isTls ? 443 : 80) : Number(url.port)
  return isTls
    ? connectTls({ host, port, servername: host, ALPNProtocols: ["http/1.1"] }, onConnected)
    : connect({ host, port }, onConnected)
}

/**
 * Sends `first` (latin1), and `second` once it is answered or kept waiting. Ends when the server closes,
 * when it has given `enough` answers and is quiet, or with the time-out.
 */
export const converse = (
  url: URL,
  {
    first,
    second = "",
    enough
  }: { readonly first: string; readonly second?: string; readonly enough: number }
): Effect.Effect<Conversation> =>
  Effect.callback<Conversation>((resume) => {
    const isHead = first.startsWith("HEAD ")
    let said = ""
    let connected = false
    let waiting = second
    const timers: Array<ReturnType<typeof setTimeout>> = []
    const socket = dial(url, () => {
      connected = true
      socket.write(first, "latin1")
      timers.push(setTimeout(follow, firstMillis))
    })
    const follow = () => {
      if (waiting !== "" && !socket.destroyed) socket.write(waiting, "latin1")
      waiting = ""
    }
    const end = () => {
      for (const timer of timers) clearTimeout(timer)
      socket.destroy()
    }
    const finish = (closed: boolean) => {
      end()
      resume(Effect.succeed({ ...readAnswers(said, closed, isHead), connected, closed }))
    }
    timers.push(setTimeout(() => finish(false), caseMillis))
    const finishWhenQuiet = (heard: string) =>
      timers.push(setTimeout(() => said === heard && finish(false), quietMillis))
    socket.on("data", (chunk) => {
      said += chunk.toString("latin1")
      const { length } = readAnswers(said, false, isHead).answers
      if (length > 0 && waiting !== "") timers.push(setTimeout(follow, quietMillis / 3))
      else if (length >= enough) finishWhenQuiet(said)
    })
    // `close` follows an error.
    socket.on("error", () => {})
    socket.on("close", () => finish(true))
    return Effect.sync(end)
  })
