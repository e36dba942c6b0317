import { Effect, Layer } from "effect"
import { EgressPolicy } from "../../../platform/egress/EgressPolicy.ts"
import type { PostFailure } from "../../../platform/egress/PostFailure.ts"
import { Reach } from "../../../platform/egress/Reach.ts"
import { Resolver } from "../../../platform/egress/Resolver.ts"
import { EndpointUrlRepo } from "../../../webhooks/EndpointUrlRepo.ts"
import { type Finding, ok, warning } from "./Finding.ts"

/** How many receivers are looked at, those used last first. */
const looked = 50

const whatToDo: { readonly [F in PostFailure]: string } = {
  dns: "Its name has no address from here. Check the name, and this machine's DNS.",
  blocked: "Its address is not public, or is this service's own: nothing is sent there.",
  connect: "It takes no connection from here. Check that it runs, and this machine's way out.",
  tls: "Its certificate is not one for its name that is trusted. Have its owner renew it, with its whole chain.",
  timeout: "It does not answer in time. Check that it runs, and this machine's way out.",
  response: "It does not speak HTTP."
}

/** One for each host that webhooks go to. Nothing is sent: a connection is opened, with TLS, and closed. */
export const receiverFindings = Effect.gen(function* () {
  const urls = yield* Effect.flatMap(EndpointUrlRepo, (repo) => repo.recent(looked))
  const { reach } = yield* Reach
  const byHost = new Map(urls.map((url) => [URL.parse(url)?.host ?? "?", url]))
  return yield* Effect.forEach(
    byHost,
    ([host, url]) =>
      reach(url).pipe(
        Effect.as<Finding>(ok(`receiver ${host}`, "It can be reached, and its certificate is right")),
        Effect.catch((reason) => Effect.succeed(warning(`receiver ${host}`, whatToDo[reason])))
      ),
    { concurrency: 10 }
  )
}).pipe(Effect.provide(Reach.layer.pipe(Layer.provide([Resolver.layer, EgressPolicy.layer]))))
