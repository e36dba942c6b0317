import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** True if a URL's host is this machine: a loopback address or `localhost`, but no other name. */
export const isLoopback = (hostname: string): boolean => {
  const bare = hostname.replace(/^\[|\]$/g, "")
  return bare === "localhost" || (isIP(bare) !== 0 && ipaddr.process(bare).range() === "loopback")
}
