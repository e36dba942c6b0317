import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** Whether a URL's host is this machine itself: names that resolve to it are not, but for `localhost`. */
export const isLoopback = (hostname: string): boolean => {
  const bare = hostname.replace(/^\[|\]$/g, "")
  return bare === "localhost" || (isIP(bare) !== 0 && ipaddr.process(bare).range() === "loopback")
}
