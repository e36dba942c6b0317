import { expect } from "bun:test"
import { BunHttpServer } from "@effect/platform-bun"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import * as Server from "../../../src/platform/http/Server.ts"
import { liveEffect } from "../../support/run.ts"

liveEffect("work that a request has begun is finished even if its client disconnects", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const done = yield* Deferred.make<void>()
    const request = Deferred.succeed(begun, undefined).pipe(
      Effect.andThen(Deferred.await(goOn)),
      Effect.andThen(Deferred.succeed(done, undefined)),
      Effect.as(HttpServerResponse.text("done"))
    )
    const served = Effect.gen(function* () {
      const handler = yield* HttpRouter.toHttpEffect(HttpRouter.add("GET", "/", request))
      return HttpServer.serve(yield* Server.runToEnd(handler))
    })
    const server = yield* Layer.build(
      Layer.unwrap(served).pipe(
        Layer.provideMerge(Server.layerOf({ port: 0, hostname: "127.0.0.1" })),
        Layer.provide(BunHttpServer.layerHttpServices)
      )
    )
    yield* Effect.provideContext(
      Effect.gen(function* () {
        const { address } = yield* HttpServer.HttpServer
        const client = new AbortController()
        const answer = fetch(HttpServer.formatAddress(address), { signal: client.signal })
        yield* Deferred.await(begun)
        client.abort()
        yield* Effect.ignore(Effect.tryPromise(() => answer))
        // Time for the server to see the closed connection.
        yield* Effect.sleep("100 millis")
        yield* Deferred.succeed(goOn, undefined)
        expect(yield* Effect.timeoutOption(Deferred.await(done), "2 seconds")).toMatchObject({ _tag: "Some" })
      }),
      server
    )
  })
)

liveEffect("a stop waits for work that a request has begun", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const request = Deferred.succeed(begun, undefined).pipe(
      Effect.andThen(Deferred.await(goOn)),
      Effect.as(HttpServerResponse.text("done"))
    )
    const served = Effect.gen(function* () {
      const handler = yield* HttpRouter.toHttpEffect(HttpRouter.add("GET", "/", request))
      return HttpServer.serve(yield* Server.runToEnd(handler)).pipe(
        Layer.provideMerge(Server.layerOf({ port: 0, hostname: "127.0.0.1" }))
      )
    })
    const scope = yield* Scope.make()
    const server = yield* Layer.buildWithScope(
      Layer.unwrap(served).pipe(Layer.provide(BunHttpServer.layerHttpServices)),
      scope
    )
    const { address } = yield* Effect.provideContext(HttpServer.HttpServer, server)
    const answer = fetch(HttpServer.formatAddress(address)).then((a) => a.text(), String)
    yield* Deferred.await(begun)
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* Effect.sleep("300 millis")
    yield* Deferred.succeed(goOn, undefined)
    expect(yield* Effect.promise(() => answer)).toBe("done")
    yield* Fiber.join(closing)
  })
)
