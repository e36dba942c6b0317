// The reasons for which an outgoing request fails, as merchants see them.
import { Schema } from "effect"

/**
 * The reason why there was no complete response. It never contains an address, because merchants see it.
 * - `dns`: the name has no address.
 * - `blocked`: the URL or an address may not be posted to.
 * - `connect`: the connection failed.
 * - `tls`: no handshake, or a certificate for another name.
 * - `timeout`: the time ran out.
 * - `response`: not HTTP/1.1, too large a head, or cut off.
 */
export const PostFailure = Schema.Literals(["dns", "blocked", "connect", "tls", "timeout", "response"])
export type PostFailure = typeof PostFailure.Type
