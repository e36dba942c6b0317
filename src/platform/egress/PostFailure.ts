import { Schema } from "effect"

/**
 * The reason why no complete answer came: the name has no address (`dns`); the URL or an address is not one that is
 * posted to (`blocked`); the connection fails (`connect`); no handshake, or not the name's
 * certificate (`tls`); the time ran out (`timeout`); the answer is not HTTP/1.1, too large in its head, or
 * cut off (`response`). Never holds an address: merchants see it.
 */
export const PostFailure = Schema.Literals(["dns", "blocked", "connect", "tls", "timeout", "response"])
export type PostFailure = typeof PostFailure.Type
