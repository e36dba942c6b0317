// Decides whether an IP address is in the public internet and may be posted to. The tables are our own: ipaddr.js
// parses, but its `range()` calls several special ranges unicast.
import { isIPv4, isIPv6 } from "node:net"
import ipaddr from "ipaddr.js"

/** IPv4 ranges that are never a merchant's endpoint (docs/threats.md 1.4; IANA special-purpose registry, RFC 6890). */
const deniedIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Azure's host agent responds on a public-looking address in each virtual machine.
  "168.63.129.16/32"
].map((cidr) => ipaddr.IPv4.parseCIDR(cidr))

/** The only IPv6 space that is allocated for global unicast (RFC 4291). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** Ranges within 2000::/3 that are not public (docs/threats.md 1.4). */
const deniedIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48"].map((cidr) =>
  ipaddr.IPv6.parseCIDR(cidr)
)

/**
 * The canonical spelling of an address, so that equal addresses compare equal: dotted decimal for IPv4, lower-case
 * compressed for IPv6. `undefined` for anything but a plain address (also octal, hex or short IPv4, brackets, and zone
 * ids, which name an interface of this machine).
 */
export const canonicalAddress = (text: string): string | undefined => {
  if (isIPv4(text)) return text
  return isIPv6(text) && !text.includes("%") ? ipaddr.IPv6.parse(text).toString() : undefined
}

/**
 * True if `text` is an IPv4 or IPv6 address that may be posted to (docs/threats.md 1.4). Anything but a plain address
 * is not public. IPv4 in any IPv6 wrapping (mapped, NAT64, 6to4, Teredo) is not public either: it has no legitimate
 * use, and gateways treat it differently.
 * @example
 * isPublicAddress("8.8.8.8") // true
 * isPublicAddress("::ffff:8.8.8.8") // false
 */
export const isPublicAddress = (text: string): boolean => {
  if (isIPv4(text)) {
    const address = ipaddr.IPv4.parse(text)
    return !deniedIPv4.some((range) => address.match(range))
  }
  if (!isIPv6(text) || text.includes("%")) return false
  const address = ipaddr.IPv6.parse(text)
  return address.match(globalUnicast) && !deniedIPv6.some((range) => address.match(range))
}
