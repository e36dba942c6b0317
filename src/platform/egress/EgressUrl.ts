// The rules that a URL must meet before it is stored, and again before each post. Pure: SafePost judges at each post
// what the name resolves to.
import { isIP } from "node:net"
import { Result, Schema } from "effect"

/** The rule that a URL breaks (docs/threats.md 1.1 and 1.2). */
export const EgressUrlReason = Schema.Literals([
  "not_a_url",
  "scheme",
  "credentials",
  "fragment",
  "too_long",
  "ip_address",
  "port",
  "hostname",
  "own_host"
])
export type EgressUrlReason = typeof EgressUrlReason.Type

/** The deployment's own hosts, which the checks protect, and the operator's exceptions. */
export interface EgressUrlOptions {
  /** Names (or `name:port`, or addresses) of this deployment. */
  readonly ownHosts: ReadonlyArray<string>
  /** Exact `host:port` that may be http and private; for development. IPv6 in brackets. */
  readonly allowedHosts: ReadonlyArray<string>
}

/** A URL that passed. `allowed` is true if it passed by the operator's list of allowed hosts. */
export interface CheckedEgressUrl {
  readonly url: URL
  readonly allowed: boolean
}

const maxLength = 2048

/** Names that are never public (RFC 6761, 6762, 7686, 8375, 9476; ICANN's collision list). */
const deniedSuffixes = [
  "localhost",
  "local",
  "internal",
  "intranet",
  "lan",
  "home.arpa",
  "corp",
  "onion",
  "test",
  "invalid",
  "example"
]

/** The form in which names are compared: lower case, without one trailing dot and any port. */
const bareHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:\d+$/, "")
    .replace(/(?<=[^.])\.$/, "")

/** The host to resolve, compare and use in TLS: lower case, without brackets or the root's dot. */
export const hostOf = (url: URL): string => bareHost(url.hostname).replace(/^\[(.*)\]$/, "$1")

/** The URL's port, or its scheme's default. */
export const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port)

/** `host:port` as in a list of allowed hosts. */
export const originOf = (url: URL): string => `${bareHost(url.hostname)}:${portOf(url)}`

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

const isHostname = (name: string): boolean => {
  const labels = name.split(".")
  return name.length <= 253 && labels.length >= 2 && labels.every((part) => label.test(part))
}

/** True if a resolver could read the last label as a number, and so the name as an IPv4 address. */
const endsInNumber = (name: string): boolean => /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name)

/**
 * Judges a URL for registration, without the network.
 * @returns the parsed URL, to be used from here on, or the reason why it is refused.
 * @example
 * checkEgressUrl("https://shop.example.com/hook", { ownHosts: [], allowedHosts: [] })
 */
export const checkEgressUrl = (
  input: string,
  options: EgressUrlOptions
): Result.Result<CheckedEgressUrl, EgressUrlReason> => {
  if (input.length > maxLength) return Result.fail("too_long")
  // WHATWG parsing drops tabs and line ends and reads a backslash as a slash; other parsers do not, so such a URL
  // would mean different things to its reader and to us.
  if (/[\p{Cc}\p{Z}\\]/u.test(input)) return Result.fail("not_a_url")
  const url = URL.parse(input)
  if (url === null) return Result.fail("not_a_url")
  if (url.protocol !== "https:" && url.protocol !== "http:") return Result.fail("scheme")
  const authority = /^[a-z]+:\/\/([^/?#]+)/i.exec(input)?.[1]
  if (authority === undefined) return Result.fail("not_a_url")
  if (authority.includes("@") || url.username !== "" || url.password !== "") return Result.fail("credentials")
  if (url.href.includes("#")) return Result.fail("fragment")
  if (url.href.length > maxLength) return Result.fail("too_long")
  const origin = originOf(url)
  if (options.allowedHosts.some((allowed) => allowed.toLowerCase() === origin)) {
    return Result.succeed({ url, allowed: true })
  }
  if (url.protocol !== "https:") return Result.fail("scheme")
  const host = hostOf(url)
  if (isIP(host) !== 0 || endsInNumber(host)) return Result.fail("ip_address")
  if (options.ownHosts.some((own) => bareHost(own) === host)) return Result.fail("own_host")
  if (!isHostname(host)) return Result.fail("hostname")
  if (deniedSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))) {
    return Result.fail("hostname")
  }
  const port = portOf(url)
  return port === 443 || port >= 1024 ? Result.succeed({ url, allowed: false }) : Result.fail("port")
}
