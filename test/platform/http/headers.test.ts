// The server's reading of a request's headers off the wire.
import { expect, test } from "bun:test"
import { connect } from "node:net"
import { Effect, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Server from "../../../src/platform/http/Server.ts"

/** Returns the headers that it received. */
const echo = HttpServer.serve(
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    HttpServerResponse.jsonUnsafe(Object.entries(headers))
  )
)

const converse = (port: number, text: string) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"))
        let said = ""
        socket.on("data", (chunk) => {
          said += chunk.toString("latin1")
        })
        socket.on("close", () => resolve(said))
        socket.on("error", reject)
      })
  )

const headersOf = (lines: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    if (!("port" in address)) throw new Error("no port")
    const said = yield* converse(
      address.port,
      `GET / HTTP/1.1\r\n${lines.join("\r\n")}\r\nconnection: close\r\n\r\n`
    )
    const { connection: _, ...headers } = Object.fromEntries(JSON.parse(said.slice(said.indexOf("\r\n\r\n"))))
    return headers
  }).pipe(
    Effect.provide(Layer.provideMerge(echo, Server.layerOf({ port: 0, hostname: "127.0.0.1" }))),
    Effect.runPromise
  )

test("headers are texts by lower-case names; a repeated header becomes one text", async () => {
  expect(await headersOf(["Host: a", "X-Up: 1", "x: 1", "X: 2", "empty:"])).toEqual({
    host: "a",
    "x-up": "1",
    x: "1, 2",
    empty: ""
  })
  expect(await headersOf(["host: a", "Cookie: a=1", "cookie: b=2"])).toEqual({
    host: "a",
    cookie: "a=1; b=2"
  })
})

test("names of JavaScript's own object properties are headers like others", async () => {
  const headers = await headersOf(["host: a", "constructor: b", "toString: c", "hasOwnProperty: d"])
  expect(headers).toEqual({ host: "a", constructor: "b", tostring: "c", hasownproperty: "d" })
  expect(await headersOf(["host: a", "__proto__: b"])).toMatchObject({ host: "a" })
})
