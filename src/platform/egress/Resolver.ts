// Resolves an endpoint's name to addresses for each attempt: the caller checks the result and dials exactly that. Each
// name has its own resolver, because a resolver caches and is cancelled as a whole.
import { promises as dns, lookup } from "node:dns"
import { isIP } from "node:net"
import { Context, Data, Effect, Layer } from "effect"
import { defaultBudgets } from "./EgressPolicy.ts"

/** Limits on what one name may resolve to (docs/threats.md 1.3). */
const maxAnswers = 16
const maxAliases = 8

/** The name has no usable answer. */
export class ResolveFailed extends Data.TaggedError("ResolveFailed")<{
  readonly reason: "not_found" | "timeout" | "too_many_answers" | "too_many_aliases"
}> {}

export interface ResolverOptions {
  /** `address:port` of the DNS servers; by default the machine's own. */
  readonly servers?: ReadonlyArray<string>
  /** Budget for one name, in milliseconds. */
  readonly timeoutMillis?: number
}

/** Queries the DNS; replace it to script answers. */
export class Resolver extends Context.Service<
  Resolver,
  {
    /** A and AAAA records of a name, IPv4 first, only from the DNS. Judges nothing. */
    readonly resolve: (name: string) => Effect.Effect<ReadonlyArray<string>, ResolveFailed>
    /** Resolves the name as this machine does, including the hosts file: for endpoints that the operator allowed. */
    readonly resolveLocal: (name: string) => Effect.Effect<ReadonlyArray<string>, ResolveFailed>
  }
>()("quittance/platform/Resolver") {
  /** A resolver that queries the specified servers, or the machine's own. */
  static readonly layerOf = (options: ResolverOptions): Layer.Layer<Resolver> =>
    Layer.sync(Resolver, () => {
      const timeoutMillis = options.timeoutMillis ?? defaultBudgets.dnsMillis
      const query = queryServers(options.servers, timeoutMillis)

      const resolve = Effect.fn("Resolver.resolve")(function* (name: string) {
        const [ipv4, ipv6, aliases] = yield* query(name)
        if (aliases > maxAliases) return yield* new ResolveFailed({ reason: "too_many_aliases" })
        const addresses = [...ipv4, ...ipv6]
        if (addresses.length > maxAnswers) return yield* new ResolveFailed({ reason: "too_many_answers" })
        if (addresses.length === 0) return yield* new ResolveFailed({ reason: "not_found" })
        return addresses
      }, orTimeout(timeoutMillis))

      const resolveLocal = (name: string): Effect.Effect<ReadonlyArray<string>, ResolveFailed> => {
        if (isIP(name) !== 0) return Effect.succeed([name])
        // RFC 6761 6.3: needs no query, and development sends thousands of posts per second here.
        if (name === "localhost") return Effect.succeed(["127.0.0.1", "::1"])
        return options.servers === undefined ? orTimeout(timeoutMillis)(lookupSystem(name)) : resolve(name)
      }

      return { resolve, resolveLocal }
    })

  /** The machine's own DNS servers and the budget of docs/threats.md 1.5. */
  static readonly layer: Layer.Layer<Resolver> = Resolver.layerOf({})
}

const orTimeout =
  (timeoutMillis: number) =>
  <A>(effect: Effect.Effect<A, ResolveFailed>): Effect.Effect<A, ResolveFailed> =>
    Effect.timeoutOrElse(effect, {
      duration: timeoutMillis,
      orElse: () => Effect.fail(new ResolveFailed({ reason: "timeout" }))
    })

type Answers = readonly [ipv4: ReadonlyArray<string>, ipv6: ReadonlyArray<string>, aliases: number]

const queryServers =
  (servers: ReadonlyArray<string> | undefined, timeoutMillis: number) =>
  (name: string): Effect.Effect<Answers> =>
    Effect.callback<Answers>((resume) => {
      const resolver = new dns.Resolver({ timeout: timeoutMillis, tries: 1 })
      if (servers !== undefined) resolver.setServers(servers)
      // A failed query counts as no answer: only answered and checked addresses are ever dialled.
      const none = (): ReadonlyArray<string> => []
      const aliases = async (): Promise<number> => {
        let count = 0
        for (let alias: string | undefined = name; alias !== undefined && count <= maxAliases; ) {
          alias = (await resolver.resolveCname(alias).catch(none))[0]
          if (alias !== undefined) count++
        }
        return count
      }
      Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none), aliases()]).then(
        (answers) => resume(Effect.succeed(answers))
      )
      return Effect.sync(() => resolver.cancel())
    })

const lookupSystem = (name: string): Effect.Effect<ReadonlyArray<string>, ResolveFailed> =>
  Effect.callback((resume) => {
    lookup(name, { all: true, verbatim: true }, (error, addresses) =>
      resume(
        error === null
          ? Effect.succeed(addresses.map(({ address }) => address))
          : Effect.fail(new ResolveFailed({ reason: "not_found" }))
      )
    )
  })
