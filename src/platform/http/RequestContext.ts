// A request's id and client address.
import { isIP } from "node:net"
import { Context, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import ipaddr from "ipaddr.js"
import { BoundedMap } from "../../domain/BoundedMap.ts"

/** The request's id, in the envelope, the header `x-request-id` and the log. */
export const RequestId = Context.Reference<string>("quittance/platform/RequestId", { defaultValue: () => "" })

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/

const processPrefix = crypto.randomUUID().replaceAll("-", "").slice(0, 12)
let counter = 0

/** The caller's own id if it is a sane token, otherwise a new one. */
export const requestIdOf = (inbound: string | undefined): string => {
  if (inbound !== undefined && requestIdPattern.test(inbound)) return inbound
  counter = (counter + 1) % Number.MAX_SAFE_INTEGER
  return `req_${processPrefix}${counter.toString(36).padStart(6, "0")}`
}

/** The IP address of an entry such as `203.0.113.9`, `203.0.113.9:4711` or `[2001:db8::1]:4711`. */
const addressIn = (entry: string): string | undefined => {
  const [, six, four, port = ""] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
  if (Number(port) > 65_535) return undefined
  if (four !== undefined) return isIP(four) === 4 ? four : undefined
  const address = (six ?? entry).replace(/%[\w.-]+$/, "")
  return isIP(address) === 6 ? address : undefined
}

/** An IPv6 client owns at least a /64, so limits count by that. */
const network = (address: string): string => {
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv4
    ? parsed.toString()
    : `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
}

/** Recently seen entries. */
const networks = new BoundedMap<string, string>(1_000)
const networkOf = (entry: string): string | undefined => {
  const cached = networks.get(entry)
  if (cached !== undefined) return cached
  const address = addressIn(entry)
  if (address === undefined) return undefined
  const computed = network(address)
  networks.set(entry, computed)
  return computed
}

/** The network that a client's address belongs to: a provider gives a site a /48 of IPv6 (RFC 6177). */
export const siteOf = (client: string): string =>
  client.endsWith("::/64") ? `${client.split(":").slice(0, 3).join(":")}::/48` : client

/**
 * The client's address for limits: the socket's, or, behind `hops` trusted proxies, the entry of `x-forwarded-for`
 * that the outermost of them wrote.
 */
export const clientAddressOf = (request: HttpServerRequest.HttpServerRequest, hops: number): string => {
  const remote = Option.getOrElse(request.remoteAddress, () => "unknown")
  const socket = networkOf(remote) ?? remote
  if (hops === 0) return socket
  const forwarded = (request.headers["x-forwarded-for"] ?? "").split(",").map((part) => part.trim())
  const client = forwarded.at(-hops)
  return (client === undefined ? undefined : networkOf(client)) ?? socket
}
