// The client for Effect programs: the contract as a typed client, with the domain's tagged errors.
import { Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "./Api.ts"

/**
 * A client for the given key, with a method for each endpoint of the contract. Needs an `HttpClient`, such as
 * `FetchHttpClient.layer`.
 *
 * @example
 * const client = yield* makeQuittance({ key, baseUrl: "https://pay.example.com" })
 * const { payment } = yield* client.payments.retrieve({ params: { id } })
 */
export const makeQuittance = (options: {
  readonly key: Redacted.Redacted<string>
  readonly baseUrl: string
}) =>
  HttpApiClient.make(Api, {
    baseUrl: options.baseUrl,
    transformClient: (client) =>
      HttpClient.mapRequest(client, HttpClientRequest.bearerToken(Redacted.value(options.key)))
  })
