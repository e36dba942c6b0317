// Reuse of connections, and servers for which it is not tried again.
import { expect } from "bun:test"
import { createServer } from "node:net"
import { Effect, Layer, Redacted } from "effect"
import { EgressPolicy } from "../../../src/platform/egress/EgressPolicy.ts"
import { Resolver } from "../../../src/platform/egress/Resolver.ts"
import { WebhookSender } from "../../../src/webhooks/WebhookSender.ts"
import { liveEffect } from "../../support/run.ts"

/** Promises keep-alive, then closes after `millis` of idleness without notice. */
const unreliable = (millis: number) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ port: number; connections: () => number; close: () => void }>((resolve) => {
          let connections = 0
          const server = createServer((socket) => {
            connections++
            let timer: Timer | undefined
            socket.on("data", () => {
              clearTimeout(timer)
              socket.write("HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n")
              timer = setTimeout(() => socket.destroy(), millis)
            })
            socket.on("error", () => {})
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            resolve({ port, connections: () => connections, close: () => server.close() })
          })
        })
    ),
    ({ close }) => Effect.sync(close)
  )

liveEffect("a server that closes kept connections during a request gets new connections from then on", () =>
  Effect.gen(function* () {
    const receiver = yield* unreliable(3)
    const host = `127.0.0.1:${receiver.port}`
    const send = Effect.flatMap(WebhookSender, (sender) =>
      sender.send({
        url: `http://${host}/hook`,
        id: "01a1fc34-7205-710e-9410-874fee9a4996",
        body: new TextEncoder().encode("{}"),
        secret: Redacted.make(`whsec_${Buffer.alloc(32, 1).toString("base64")}`)
      })
    )
    yield* Effect.gen(function* () {
      let failures = 0
      for (let count = 0; count < 60; count++) {
        const outcome = yield* send
        if (outcome._tag === "Failed") failures++
        // About as long as the server waits before it closes: sometimes the two coincide.
        yield* Effect.sleep(`${2 + (count % 3)} millis`)
      }
      console.log(`${failures} attempts crossed a close; ${receiver.connections()} connections for 60 sends`)
      expect(failures).toBeLessThanOrEqual(1)
    }).pipe(
      Effect.provide(
        WebhookSender.layer.pipe(
          Layer.provide(Resolver.layer),
          Layer.provide(EgressPolicy.layerOf({ ownHosts: [], allowedHosts: [host] }))
        )
      )
    )
  })
)
