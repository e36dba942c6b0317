// The listening socket, and how paths are read on it.
import { BunHttpServer } from "@effect/platform-bun"
import { Effect, Layer } from "effect"
import { AppConfig } from "../AppConfig.ts"

/** Strict paths: no trailing slash, no doubled slashes, letter case counts. */
export const routerConfig = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 200
}

/** Body sizes are the business of the body rules, whose refusal carries the envelope. */
export const layerOf = (options: { readonly port: number; readonly hostname: string }) =>
  BunHttpServer.layerServer({
    ...options,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 30,
    gracefulShutdownTimeout: "12 seconds"
  })

/** On HOST and PORT. */
export const layer = Layer.unwrap(
  Effect.map(AppConfig, ({ port, host }) => layerOf({ port, hostname: host }))
)
