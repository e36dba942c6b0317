// The host name for a mail server's EHLO: strict relays reject a container's `[127.0.0.1]`.
import { isIP } from "node:net"

/** The host of BASE_URL; an IP address becomes the literal of RFC 5321, 4.1.3. */
export const ehloName = (baseUrl: string): string => {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "")
  const version = isIP(host)
  return version === 0 ? host : version === 4 ? `[${host}]` : `[IPv6:${host}]`
}
