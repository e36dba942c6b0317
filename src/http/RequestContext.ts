// What belongs to one request: its id, and the address it came from.
import { Context, Option } from "effect"
import type { HttpServerRequest } from "effect/http"

/** The request's id, in the envelope, the header `x-request-id` and the log. */
export const RequestId = Context.Reference<string>("quittance/http/RequestId", { defaultValue: () => "" })

const sane = /^[A-Za-z0-9._-]{1,128}$/

const processPrefix = crypto.randomUUID().replaceAll("-", "").slice(0, 12)
let counter = 0

/** The caller's own id where it is a sane token, otherwise a fresh one. */
export const requestIdOf = (inbound: string | undefined): string => {
  if (inbound !== undefined && sane.test(inbound)) return inbound
  counter = (counter + 1) % Number.MAX_SAFE_INTEGER
  return `req_${processPrefix}${counter.toString(36).padStart(6, "0")}`
}

/** IPv6 clients own a /64 at least, so that is what limits count. */
const network = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(":")) return address
  const [head = "", tail] = address.toLowerCase().replace(/%.*$/, "").split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const middle = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0")
  const groups = [...left, ...middle, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
  return `${groups.join(":")}::/64`
}

/**
 * The client's address for limits: the socket's, unless `hops` trusted proxies stand
 * before the service, then the entry of `x-forwarded-for` that the outermost of them wrote.
 */
export const clientAddressOf = (request: HttpServerRequest.HttpServerRequest, hops: number): string => {
  const socket = Option.getOrElse(request.remoteAddress, () => "unknown")
  if (hops === 0) return network(socket)
  const forwarded = (request.headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
  const client = forwarded.at(-hops)
  return network(client === undefined || !/^[0-9a-fA-F.:]+$/.test(client) ? socket : client)
}
