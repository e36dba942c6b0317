// Sockets of the pool, with servers that answer, refuse and return.
import { describe, expect, test } from "bun:test"
import { createServer, type Server, type Socket } from "node:net"
import { makeConnector } from "../../../src/platform/database/Connector.ts"

const ready = Uint8Array.of(0x5a, 0, 0, 0, 5, 0x49)

const listening = (answer: (socket: Socket) => void) =>
  new Promise<{ readonly server: Server; readonly at: { readonly host: string; readonly port: number } }>(
    (resolve) => {
      const server = createServer((socket) => {
        socket.on("error", () => {})
        answer(socket)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        if (address === null || typeof address === "string") throw new Error("no port")
        resolve({ server, at: { host: "127.0.0.1", port: address.port } })
      })
    }
  )
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()))

describe("a connector", () => {
  test("a short session that got an answer does not count as refused: the next one connects at once", async () => {
    const { at, server } = await listening((socket) => {
      socket.write(ready)
      socket.on("data", () => socket.write(ready))
    })
    const { open: connect } = makeConnector([at])
    const first = connect()
    const answered = new Promise<void>((resolve) => {
      let seen = 0
      first.on("data", () => {
        seen += 1
        if (seen === 1) first.write("SELECT")
        else resolve()
      })
    })
    await answered
    first.end()
    await closed(first)
    const second = connect()
    expect(second).toBeDefined()
    second.destroy()
    server.close()
  })

  test("a session that this process ends before its first answer does not count as refused", async () => {
    const { at, server } = await listening((socket) => socket.write(ready))
    const { open: connect } = makeConnector([at])
    const ended = connect()
    await new Promise((resolve) => ended.once("data", resolve))
    ended.destroy()
    await closed(ended)
    connect().destroy()
    server.close()
  })

  test("a cancel request that its server ends without an answer does not count as refused", async () => {
    const { at, server } = await listening((socket) => socket.end())
    const { open: connect } = makeConnector([at])
    const cancel = connect()
    // CancelRequest of protocol 3: its length, its code, a process and its key.
    cancel.write(Uint8Array.of(0, 0, 0, 16, 0x04, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 2))
    cancel.resume()
    await closed(cancel)
    connect().destroy()
    server.close()
  })

  test("a server that is silent after a write is given up, together with its idle sessions", async () => {
    const { at, server } = await listening((socket) => socket.write(ready))
    const { open } = makeConnector([at])
    const sessions = [open(200), open(200), open(200)]
    for (const session of sessions) {
      session.on("error", () => {})
      await new Promise((resolve) => session.once("data", resolve))
    }
    await Bun.sleep(300)
    // Nothing waits for an idle session.
    expect(sessions.map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    const [asked] = sessions
    const lost = new Promise<Error>((resolve) => asked?.once("error", resolve))
    asked?.write("SELECT")
    expect((await lost).message).toContain("The server is silent")
    expect(sessions.map(({ destroyed }) => destroyed)).toEqual([true, true, true])
    server.close()
  })

  test("a session that begins on a standby ends, and the next server is tried", async () => {
    const standby = await listening((socket) => socket.write("S\0\0\0\x16in_hot_standby\0on\0"))
    const primary = await listening((socket) => socket.write(ready))
    const { open } = makeConnector([standby.at, primary.at])
    const first = open()
    const lost = new Promise<Error>((resolve) => first.once("error", resolve))
    await closed(first)
    expect((await lost).message).toContain("standby")
    const second = open()
    await new Promise((resolve) => second.once("data", resolve))
    expect(second.remotePort).toBe(primary.at.port)
    second.destroy()
    standby.server.close()
    primary.server.close()
  })

  test("an error's bytes inside a row, which a stranger may have stored, do not end the session", async () => {
    const value = Buffer.from("E\0\0\0\x10C25006\0\0")
    const row = Buffer.concat([Buffer.from("D\0\0\0"), Buffer.of(value.length + 4), value])
    const { at, server } = await listening((socket) => {
      socket.write(ready)
      socket.on("data", () => socket.write(Buffer.concat([row, ready])))
    })
    const session = makeConnector([at]).open()
    await new Promise((resolve) => session.once("data", resolve))
    session.write("SELECT")
    await new Promise((resolve) => session.once("data", resolve))
    await Bun.sleep(50)
    expect(session.destroyed).toBeFalse()
    session.destroy()
    server.close()
  })

  test("a session whose write was refused as read-only ends, and `leave` ends all", async () => {
    const { at, server } = await listening((socket) => {
      socket.write(ready)
      socket.on("data", () => socket.write(Buffer.concat([Buffer.from("E\0\0\0\x10C25006\0\0"), ready])))
    })
    const { failOver, open } = makeConnector([at])
    const sessions = [open(), open()]
    for (const session of sessions) {
      session.on("error", () => {})
      await new Promise((resolve) => session.once("data", resolve))
    }
    const [first, second] = sessions
    first?.write("INSERT")
    await Promise.all(sessions.slice(0, 1).map(closed))
    expect(second?.destroyed).toBeFalse()
    failOver("The server is a standby")
    expect(second?.destroyed).toBeTrue()
    server.close()
  })

  test("a session that ends as it begins counts as refused: for half a second callers get that error", async () => {
    const { at, server } = await listening((socket) => socket.end(ready))
    const { open: connect } = makeConnector([at])
    const first = connect()
    first.resume()
    await closed(first)
    expect(() => connect()).toThrow("did not answer a moment ago")
    await Bun.sleep(550)
    connect().destroy()
    server.close()
  })
})
