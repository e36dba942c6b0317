// Reports the statements that this process sends to a listener: the tests compare them with what each engine of
// docs/databases.md supports. The service has no listener.
import type { Socket } from "node:net"

const listeners = new Set<(text: string) => void>()

/** Calls `listener` with the text of each statement that a new connection prepares or sends. */
export const onStatement = (listener: (text: string) => void): void => {
  listeners.add(listener)
}

const simpleQuery = 0x51
const parse = 0x50

/** Reads Query and Parse messages (Postgres protocol 3, "Message Formats") from the client's bytes. */
const report = (bytes: Buffer) => {
  for (let at = 0; at + 5 <= bytes.length; ) {
    const type = bytes[at]
    const end = at + 1 + bytes.readInt32BE(at + 1)
    // A connection's first message has no type, and incomplete messages are no statements.
    if (end <= at + 4 || end > bytes.length) return
    const body = bytes.subarray(at + 5, end)
    const from = type === parse ? body.indexOf(0) + 1 : 0
    if (type === parse || type === simpleQuery) {
      const text = body.subarray(from, body.indexOf(0, from)).toString()
      for (const listener of listeners) listener(text)
    }
    at = end
  }
}

/** The socket, observed while there is a listener. */
export const loggedSocket = (socket: Socket): Socket => {
  if (listeners.size === 0) return socket
  const write = socket.write.bind(socket)
  return Object.assign(socket, {
    write: (bytes: Uint8Array) => {
      report(Buffer.from(bytes))
      return write(bytes)
    }
  })
}
