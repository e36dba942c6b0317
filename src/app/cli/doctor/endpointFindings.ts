// Checks for `doctor` whether the hosts of webhook endpoints can be reached over TLS.
import { Effect, Layer } from "effect"
import { EgressPolicy } from "../../../platform/egress/EgressPolicy.ts"
import type { PostFailure } from "../../../platform/egress/PostFailure.ts"
import { Reach } from "../../../platform/egress/Reach.ts"
import { Resolver } from "../../../platform/egress/Resolver.ts"
import { EndpointUrlRepo } from "../../../webhooks/EndpointUrlRepo.ts"
import { type Finding, ok, warning } from "./Finding.ts"

/** The number of unresponsive endpoints to check. */
const maxChecked = 50

const whatToDo: { readonly [F in PostFailure]: string } = {
  dns: "The host name does not resolve. Check the name and this machine's DNS.",
  blocked: "The address is not public, or is this service's own, so the service sends nothing to it.",
  connect: "The connection failed. Check that the endpoint runs, and this machine's outgoing connections.",
  tls: "The certificate is not trusted for its name. Ask the merchant to renew it with its full chain.",
  timeout:
    "There was no response in time. Check that the endpoint runs, and this machine's outgoing connections.",
  response: "The response is not HTTP."
}

/** One finding per host of a webhook endpoint. Opens a TLS connection, sends nothing and closes it. */
export const endpointFindings = Effect.gen(function* () {
  const urls = yield* Effect.flatMap(EndpointUrlRepo, (repo) => repo.unresponsive(maxChecked))
  const { reach } = yield* Reach
  const byHost = new Map(urls.map((url) => [URL.parse(url)?.host ?? "?", url]))
  return yield* Effect.forEach(
    byHost,
    ([host, url]) =>
      reach(url).pipe(
        Effect.as<Finding>(ok(`endpoint ${host}`, "It is reachable, and its certificate is valid")),
        Effect.catch((reason) => Effect.succeed(warning(`endpoint ${host}`, whatToDo[reason])))
      ),
    { concurrency: 10 }
  )
}).pipe(Effect.provide(Reach.layer.pipe(Layer.provide([Resolver.layer, EgressPolicy.layer]))))
