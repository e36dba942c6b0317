// The resolver against a scripted DNS server: its answers, its limits, and that it never caches.
import { describe, expect } from "bun:test"
import { Duration, Effect, Fiber, Result, type Scope } from "effect"
import { type ResolveFailed, Resolver } from "../../../src/platform/egress/Resolver.ts"
import { type DnsServer, scriptedDns, type Zone } from "../../support/dnsServer.ts"
import { liveEffect } from "../../support/run.ts"

const timeoutMillis = 400

const withDns = <A, E>(
  use: (resolver: Resolver["Service"], dns: DnsServer) => Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<A, E, Scope.Scope> =>
  Effect.gen(function* () {
    const dns = yield* scriptedDns
    const layer = Resolver.layerOf({ servers: [dns.address], timeoutMillis })
    return yield* Effect.flatMap(Resolver, (resolver) => use(resolver, dns)).pipe(Effect.provide(layer))
  })

const numbered = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `9.9.9.${index + 1}`)

const aliasChain = (dns: DnsServer, length: number): string => {
  for (let index = 0; index < length; index++) {
    dns.set(`hop${index}.example.com`, { cname: `hop${index + 1}.example.com`, a: ["9.9.9.9"] })
  }
  dns.set(`hop${length}.example.com`, { a: ["9.9.9.9"] })
  return "hop0.example.com"
}

const expectFailure = (
  zone: Zone | undefined,
  reason: ResolveFailed["reason"],
  name = "shop.example.com"
): (() => Effect.Effect<void, never, Scope.Scope>) => {
  return () =>
    withDns((resolver, dns) =>
      Effect.gen(function* () {
        if (zone !== undefined) dns.set(name, zone)
        const result = yield* Effect.result(resolver.resolve(name))
        expect(Result.isFailure(result) ? result.failure.reason : result.success).toBe(reason)
      })
    )
}

const expectAnswer = (zone: Zone, addresses: ReadonlyArray<string>) => () =>
  withDns((resolver, dns) =>
    Effect.gen(function* () {
      dns.set("shop.example.com", zone)
      expect(yield* resolver.resolve("shop.example.com")).toEqual(addresses)
    })
  )

describe("Resolver", () => {
  liveEffect("only A", expectAnswer({ a: ["9.9.9.9"] }, ["9.9.9.9"]))
  liveEffect("only AAAA", expectAnswer({ aaaa: ["2620:fe::fe"] }, ["2620:fe::fe"]))
  liveEffect(
    "A and AAAA, IPv4 first",
    expectAnswer({ a: ["9.9.9.9"], aaaa: ["2620:fe::fe"] }, ["9.9.9.9", "2620:fe::fe"])
  )
  liveEffect("an alias", expectAnswer({ cname: "lb.example.com", a: ["9.9.9.9"] }, ["9.9.9.9"]))
  liveEffect("16 answers", expectAnswer({ a: numbered(16) }, numbered(16)))

  liveEffect("no such name", expectFailure(undefined, "not_found"))
  liveEffect("a name without addresses", expectFailure({}, "not_found"))
  liveEffect("a server failure", expectFailure({ behaviour: "servfail" }, "not_found"))
  liveEffect("17 answers", expectFailure({ a: numbered(17) }, "too_many_answers"))
  liveEffect(
    "17 answers over both families",
    expectFailure({ a: numbered(16), aaaa: ["2620:fe::fe"] }, "too_many_answers")
  )
  // A host name may look like an address to a lenient parser; the resolver must query, not parse.
  liveEffect("an address is not a name", expectFailure(undefined, "not_found", "127.0.0.1"))
  liveEffect("localhost is not public DNS", expectFailure(undefined, "not_found", "localhost"))

  for (const behaviour of ["silent", "garbage"] as const) {
    liveEffect(`a ${behaviour} server ends within the budget`, () =>
      withDns((resolver, dns) =>
        Effect.gen(function* () {
          dns.set("shop.example.com", { behaviour })
          const [took, result] = yield* Effect.timed(Effect.result(resolver.resolve("shop.example.com")))
          expect(Result.isFailure(result)).toBe(true)
          expect(Duration.toMillis(took)).toBeLessThan(timeoutMillis + 10_000)
        })
      )
    )
  }

  liveEffect("8 aliases pass and 9 don't", () =>
    withDns((resolver, dns) =>
      Effect.gen(function* () {
        expect(yield* resolver.resolve(aliasChain(dns, 8))).toEqual(["9.9.9.9"])
        const result = yield* Effect.result(resolver.resolve(aliasChain(dns, 9)))
        expect(Result.isFailure(result) && result.failure.reason).toBe("too_many_aliases")
      })
    )
  )

  liveEffect("an alias that points at itself", () =>
    withDns((resolver, dns) =>
      Effect.gen(function* () {
        dns.set("loop.example.com", { cname: "loop.example.com" })
        const result = yield* Effect.result(resolver.resolve("loop.example.com"))
        expect(Result.isFailure(result)).toBe(true)
      })
    )
  )

  liveEffect("every call queries again, whatever the answer's time to live", () =>
    withDns((resolver, dns) =>
      Effect.gen(function* () {
        dns.set("shop.example.com", (asked) => ({ a: [`9.9.9.${asked + 1}`] }))
        expect(yield* resolver.resolve("shop.example.com")).toEqual(["9.9.9.1"])
        expect(yield* resolver.resolve("shop.example.com")).toEqual(["9.9.9.2"])
      })
    )
  )

  liveEffect("interruption ends a query at once", () =>
    withDns((resolver, dns) =>
      Effect.gen(function* () {
        dns.set("shop.example.com", { behaviour: "silent" })
        const fiber = yield* Effect.forkChild(resolver.resolve("shop.example.com"))
        yield* Effect.sleep(50)
        const [took] = yield* Effect.timed(Fiber.interrupt(fiber))
        expect(Duration.toMillis(took)).toBeLessThan(timeoutMillis - 100)
      })
    )
  )

  liveEffect("the local view resolves localhost and addresses without a query", () =>
    Effect.gen(function* () {
      const resolver = yield* Resolver
      expect(yield* resolver.resolveLocal("localhost")).toEqual(["127.0.0.1", "::1"])
      expect(yield* resolver.resolveLocal("10.1.2.3")).toEqual(["10.1.2.3"])
      expect(yield* resolver.resolveLocal("::1")).toEqual(["::1"])
    }).pipe(Effect.provide(Resolver.layer))
  )
})
