// One POST to a URL that a stranger chose: checks it, resolves the name, refuses unless all its addresses are public,
// dials one of them and sends once (docs/threats.md 1).
import { type Clock, Effect, Exit, Result } from "effect"
import { BoundedMap } from "../../domain/BoundedMap.ts"
import type { ConnectionPool } from "./ConnectionPool.ts"
import { makeDialler } from "./Dialler.ts"
import type { EgressPolicy } from "./EgressPolicy.ts"
import { checkEgressUrl, originOf } from "./EgressUrl.ts"
import type { PostFailure } from "./PostFailure.ts"
import type { Resolver } from "./Resolver.ts"

export interface Post {
  readonly url: string
  readonly body: Uint8Array
  /** Header-safe pairs, created in the Unix second in which the head is written. */
  readonly headersAt: (unixSeconds: number) => Iterable<readonly [string, string]>
}

/** A complete response. The start of the body is included only if the peer's address is public. */
export interface PostResponse {
  readonly status: number
  readonly ok: boolean
  readonly body?: Uint8Array
}

/** The number of parsed URLs in the cache. */
const maxDestinations = 1_000

interface Destination {
  readonly url: URL
  /** True if the operator allows it even if it is private. */
  readonly allowed: boolean
  /** `scheme://name:port`. */
  readonly origin: string
  readonly commonHead: string
}

const hostHeader = (url: URL): string =>
  url.port === "" ? originOf(url).replace(/:\d+$/, "") : originOf(url)

/** The part of the head that all requests share. */
const commonHeadOf = (url: URL, userAgent: string): string =>
  [
    `POST ${url.pathname}${url.search} HTTP/1.1`,
    `host: ${hostHeader(url)}`,
    `user-agent: ${userAgent}`,
    "accept: */*",
    "accept-encoding: identity",
    "content-type: application/json"
  ].join("\r\n")

const requestHeadOf = (
  commonHead: string,
  headers: Iterable<readonly [string, string]>,
  body: Uint8Array
): string => {
  let head = `${commonHead}\r\ncontent-length: ${body.length}`
  for (const [name, value] of headers) head += `\r\n${name}: ${value}`
  return head
}

const requestBytes = (head: string, body: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), body])

/** Posts under a policy. If a post fails or is interrupted, its socket is destroyed. */
export const makeSafePost = (
  policy: typeof EgressPolicy.Service,
  resolver: Resolver["Service"],
  pool: ConnectionPool,
  userAgent: string
): ((post: Post, onHead: (head: string) => void) => Effect.Effect<PostResponse, PostFailure>) => {
  const { locate, dialFirst } = makeDialler(policy, resolver)

  /** Parsed URLs: a burst of posts to one URL parses it once. */
  const destinations = new BoundedMap<string, Destination | undefined>(maxDestinations)
  const destinationOf = (text: string): Destination | undefined => {
    if (destinations.has(text)) return destinations.get(text)
    const checked = checkEgressUrl(text, policy)
    const destination = Result.isFailure(checked)
      ? undefined
      : {
          ...checked.success,
          origin: `${checked.success.url.protocol}//${originOf(checked.success.url)}`,
          commonHead: commonHeadOf(checked.success.url, userAgent)
        }
    destinations.set(text, destination)
    return destination
  }

  /** `hold` gets a function that ends the socket in use. */
  const attempt = Effect.fnUntraced(function* (
    post: Post,
    onHead: (head: string) => void,
    clock: Clock.Clock,
    hold: (abandon: () => void) => void
  ) {
    const started = clock.monotonicTimeNanosUnsafe()
    const destination = destinationOf(post.url)
    if (destination === undefined) return yield* Effect.fail("blocked" as const)
    const { url, allowed, origin, commonHead } = destination
    const addresses = yield* locate(url, allowed)

    const pooled = pool.take(origin, addresses, clock.currentTimeMillisUnsafe())
    if (pooled !== undefined) hold(() => pooled.close())
    const connection =
      pooled ?? (yield* dialFirst(url, addresses, (socket) => hold(() => void socket.destroy())))

    const now = clock.currentTimeMillisUnsafe()
    const head = requestHeadOf(commonHead, post.headersAt(Math.floor(now / 1000)), post.body)
    onHead(head)
    // Resolving and connecting have their own, shorter budgets.
    const elapsed = Number(clock.monotonicTimeNanosUnsafe() - started) / 1e6
    const left = Math.max(1, policy.budgets.totalMillis - elapsed)
    const response = yield* connection
      .exchange(requestBytes(head, post.body), policy.budgets, left)
      .pipe(
        Effect.tapError((failure) =>
          pooled === undefined || failure === "timeout"
            ? Effect.void
            : Effect.sync(() => pool.distrust(origin, clock.currentTimeMillisUnsafe()))
        )
      )
    if (!connection.closed) pool.put(origin, connection, clock.currentTimeMillisUnsafe())

    const { status } = response
    const answer = { status, ok: status >= 200 && status < 300 }
    return connection.isPublic ? { ...answer, body: response.body } : answer
  })

  // The clock is read once here: each reading as an effect costs a step of the fiber.
  return (post, onHead) =>
    Effect.clockWith((clock) => {
      let abandon = (): void => {}
      const held = attempt(post, onHead, clock, (how) => {
        abandon = how
      })
      return Effect.onExit(held, (exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => abandon())
      )
    })
}
