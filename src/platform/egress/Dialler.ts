// Opens a connection for a checked URL: every address of its name must be public, and one of them is dialled
// (docs/threats.md 1).
import type { Socket } from "node:net"
import { Effect } from "effect"
import { dial, type EgressConnection } from "./EgressConnection.ts"
import type { EgressPolicy } from "./EgressPolicy.ts"
import { hostOf, portOf } from "./EgressUrl.ts"
import type { PostFailure } from "./PostFailure.ts"
import { canonicalAddress, isPublicAddress } from "./PublicAddress.ts"
import type { Resolver } from "./Resolver.ts"

/** A name with many addresses is tried at a few of them; each gets a share of the connect time. */
const maxDials = 3

interface Dialler {
  /** The addresses of a url's name; `allowed` ones may be private. */
  readonly locate: (url: URL, allowed: boolean) => Effect.Effect<ReadonlyArray<string>, PostFailure>
  /** `onSocket` gets each socket before it connects; the caller destroys the last one on failure. */
  readonly dialFirst: (
    url: URL,
    addresses: ReadonlyArray<string>,
    onSocket: (socket: Socket) => void
  ) => Effect.Effect<EgressConnection, PostFailure>
}

export const makeDialler = (policy: typeof EgressPolicy.Service, resolver: Resolver["Service"]): Dialler => {
  const ownAddresses = new Set(policy.ownHosts.flatMap((host) => canonicalAddress(host) ?? []))
  const mayReach = (address: string): boolean =>
    isPublicAddress(address) && !ownAddresses.has(canonicalAddress(address) ?? address)

  const locate: Dialler["locate"] = Effect.fnUntraced(function* (url: URL, allowed: boolean) {
    const name = hostOf(url)
    const lookup = allowed ? resolver.resolveLocal(name) : resolver.resolve(name)
    const addresses = yield* Effect.mapError(lookup, () => "dns" as const)
    // One address that is not public taints the name: its owner wants to reach inside, or will.
    if (!allowed && !addresses.every(mayReach)) return yield* Effect.fail("blocked" as const)
    return addresses
  })

  const dialFirst: Dialler["dialFirst"] = (url, addresses, onSocket) => {
    const dialled = addresses.slice(0, maxDials)
    const connectMillis = policy.budgets.connectMillis / dialled.length
    const serverName = url.protocol === "https:" ? hostOf(url) : undefined
    const dialFrom = (index: number): Effect.Effect<EgressConnection, PostFailure> => {
      const address = dialled[index]
      if (address === undefined) return Effect.fail("connect")
      return dial({ address, port: portOf(url), serverName, connectMillis, onSocket }, policy).pipe(
        Effect.catchIf(
          (failure) => failure === "connect",
          () => dialFrom(index + 1)
        )
      )
    }
    return dialFrom(0)
  }

  return { locate, dialFirst }
}
