// One attempt at a delivery, over a network that merchants can point anywhere: check the URL, resolve the
// name, refuse unless all of its addresses are public, dial one of those, send once (threats section 1).
import type { Socket } from "node:net"
import { Clock, Effect, Exit, Result } from "effect"
import { checkWebhookUrl, hostOf, originOf, portOf } from "../webhooks/WebhookEndpoints/WebhookUrl.ts"
import type { SendFailure, SendRequest } from "../webhooks/WebhookSender/SendOutcome.ts"
import { type SignatureHeaders, signatureHeaders } from "../webhooks/WebhookSender/Signature.ts"
import type { ConnectionPool } from "./ConnectionPool.ts"
import { dial, type EgressConnection } from "./EgressConnection.ts"
import type { EgressPolicyShape } from "./EgressPolicy.ts"
import { canonicalAddress, isPublicAddress } from "./PublicAddress.ts"
import type { Resolver } from "./Resolver.ts"

/** A complete answer. The body's start is there only if the peer's address is public. */
export interface Answer {
  readonly status: number
  readonly ok: boolean
  readonly body?: Uint8Array
}

/** A name with many addresses is tried at a few of them; each gets its share of the time to connect. */
const maxDials = 3

/** How many urls are remembered as read. */
const maxDestinations = 1_000

interface Destination {
  readonly url: URL
  /** The operator allows it, though it be private. */
  readonly allowed: boolean
  /** `scheme://name:port`. */
  readonly origin: string
  readonly commonHead: string
}

const hostHeader = (url: URL): string =>
  url.port === "" ? originOf(url).replace(/:\d+$/, "") : originOf(url)

/** The head up to what differs from one delivery to the next. */
const commonHeadOf = (url: URL): string =>
  [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${hostHeader(url)}`,
    "user-agent: Quittance-Webhooks/1",
    "accept: */*",
    "accept-encoding: identity",
    "content-type: application/json"
  ].join("\r\n")

const requestHeadOf = (commonHead: string, headers: SignatureHeaders, body: Uint8Array): string => {
  let head = `${commonHead}\r\ncontent-length: ${body.length}`
  for (const [name, value] of Object.entries(headers)) head += `\r\n${name}: ${value}`
  return head
}

const requestBytes = (head: string, body: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), body])

/**
 * Prepares attempts under a policy. An attempt signs with the time at which it writes, and whatever socket it
 * opened is destroyed when it fails or is interrupted. An id that a header can't carry is a defect.
 */
export const makeAttempt = (
  policy: EgressPolicyShape,
  resolver: Resolver["Service"],
  pool: ConnectionPool
): ((request: SendRequest, onHead: (head: string) => void) => Effect.Effect<Answer, SendFailure>) => {
  const ownAddresses = new Set(policy.ownHosts.flatMap((host) => canonicalAddress(host) ?? []))
  const mayReach = (address: string): boolean =>
    isPublicAddress(address) && !ownAddresses.has(canonicalAddress(address) ?? address)

  /** What a url says does not change; a burst to one is read once. */
  const destinations = new Map<string, Destination | undefined>()
  const destinationOf = (text: string): Destination | undefined => {
    if (destinations.has(text)) return destinations.get(text)
    const checked = checkWebhookUrl(text, policy)
    const destination = Result.isFailure(checked)
      ? undefined
      : {
          ...checked.success,
          origin: `${checked.success.url.protocol}//${originOf(checked.success.url)}`,
          commonHead: commonHeadOf(checked.success.url)
        }
    if (destinations.size >= maxDestinations) destinations.clear()
    destinations.set(text, destination)
    return destination
  }

  const locate = Effect.fnUntraced(function* (url: URL, allowed: boolean) {
    const name = hostOf(url)
    const found = allowed ? resolver.resolveLocal(name) : resolver.resolve(name)
    const addresses = yield* Effect.mapError(found, () => "dns" as const)
    // One answer that is not public taints the name: its owner means to reach inside, or will.
    if (!allowed && !addresses.every(mayReach)) return yield* Effect.fail("blocked" as const)
    return addresses
  })

  const dialFirst = (
    url: URL,
    addresses: ReadonlyArray<string>,
    onSocket: (socket: Socket) => void
  ): Effect.Effect<EgressConnection, SendFailure> => {
    const dialled = addresses.slice(0, maxDials)
    const connectMillis = policy.budgets.connectMillis / dialled.length
    const serverName = url.protocol === "https:" ? hostOf(url) : undefined
    const dialFrom = (index: number): Effect.Effect<EgressConnection, SendFailure> => {
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

  return (request, onHead) => {
    if (!/^[\x21-\x7e]+$/.test(request.id)) return Effect.die(new TypeError("delivery id is not header-safe"))
    let abandon = (): void => {}
    const attempt = Effect.gen(function* () {
      const started = yield* Clock.monotonicTimeNanos
      const destination = destinationOf(request.url)
      if (destination === undefined) return yield* Effect.fail("blocked" as const)
      const { url, allowed, origin, commonHead } = destination
      const addresses = yield* locate(url, allowed)

      const pooled = pool.take(origin, addresses, yield* Clock.currentTimeMillis)
      if (pooled !== undefined) abandon = () => pooled.close()
      const connection =
        pooled ??
        (yield* dialFirst(url, addresses, (socket) => {
          abandon = () => socket.destroy()
        }))

      const now = yield* Clock.currentTimeMillis
      const signable = { id: request.id, timestamp: Math.floor(now / 1000), body: request.body }
      const head = requestHeadOf(commonHead, signatureHeaders(signable, request.secret), request.body)
      onHead(head)
      // Resolving and connecting have budgets of their own, which end no later.
      const elapsed = Number((yield* Clock.monotonicTimeNanos) - started) / 1e6
      const left = Math.max(1, policy.budgets.totalMillis - elapsed)
      const response = yield* connection
        .exchange(requestBytes(head, request.body), policy.budgets, left)
        .pipe(
          Effect.tapError((failure) =>
            pooled === undefined || failure === "timeout"
              ? Effect.void
              : Effect.map(Clock.currentTimeMillis, (at) => pool.distrust(origin, at))
          )
        )
      if (!connection.closed) pool.put(origin, connection, yield* Clock.currentTimeMillis)

      const { status } = response
      const answer = { status, ok: status >= 200 && status < 300 }
      return isPublicAddress(connection.address) ? { ...answer, body: response.body } : answer
    })
    return Effect.onExit(attempt, (exit) =>
      Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => abandon())
    )
  }
}
