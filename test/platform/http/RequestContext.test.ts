// The client's address, behind proxies or not (docs/threats.md 4).
import { describe, expect, test } from "bun:test"
import { Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { clientAddressOf } from "../../../src/platform/http/RequestContext.ts"

const request = (socket: string, forwarded?: string) =>
  HttpServerRequest.fromWeb(
    new Request("http://localhost/", {
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded }
    })
  ).modify({ remoteAddress: Option.some(socket) })

describe("clientAddressOf", () => {
  const cases: ReadonlyArray<readonly [string, string, string | undefined, number, string]> = [
    ["the socket's without proxies", "198.51.100.7", undefined, 0, "198.51.100.7"],
    ["a forged header counts for nothing without proxies", "198.51.100.7", "1.2.3.4", 0, "198.51.100.7"],
    ["one proxy: the last entry", "10.0.0.1", "1.1.1.1, 203.0.113.9", 1, "203.0.113.9"],
    [
      "two proxies: the second from the right",
      "10.0.0.1",
      "6.6.6.6, 203.0.113.9, 10.0.0.2",
      2,
      "203.0.113.9"
    ],
    ["a port beyond 65535: the socket's", "10.0.0.1", "203.0.113.9:99999", 1, "10.0.0.1"],
    ["IPv4 in brackets: the socket's", "10.0.0.1", "[203.0.113.9]:80", 1, "10.0.0.1"],
    ["IPv4 with a zone: the socket's", "10.0.0.1", "203.0.113.9%eth0", 1, "10.0.0.1"],
    ["an empty last entry: the socket's", "10.0.0.1", "203.0.113.9,", 1, "10.0.0.1"],
    ["fewer entries than proxies: the socket's", "10.0.0.1", "203.0.113.9", 2, "10.0.0.1"],
    ["an entry that is no address: the socket's", "10.0.0.1", "unknown", 1, "10.0.0.1"],
    ["an entry with its port: the address", "10.0.0.1", "203.0.113.9:4711", 1, "203.0.113.9"],
    ["an IPv6 entry with its port", "10.0.0.1", "[2001:db8:1:2::5]:4711", 1, "2001:db8:1:2::/64"],
    ["an IPv6 entry in brackets", "10.0.0.1", "[2001:db8:1:2::5]", 1, "2001:db8:1:2::/64"],
    ["another port is the same client", "10.0.0.1", "203.0.113.9:65535", 1, "203.0.113.9"],
    ["digits that are no address: the socket's", "10.0.0.1", "1.2.3.4.5", 1, "10.0.0.1"],
    ["colons that are no address: the socket's", "10.0.0.1", "a:b:c", 1, "10.0.0.1"],
    ["an octet too large: the socket's", "10.0.0.1", "1.2.3.256", 1, "10.0.0.1"],
    ["IPv4 in IPv6, in hex", "10.0.0.1", "::ffff:cb00:7109", 1, "203.0.113.9"],
    ["IPv4 in IPv6 is the IPv4 address", "::ffff:198.51.100.7", undefined, 0, "198.51.100.7"],
    ["IPv6 counts by /64", "2001:db8:1:2:3:4:5:6", undefined, 0, "2001:db8:1:2::/64"],
    [
      "another address of the same /64 is the same client",
      "2001:db8:1:2:ffff::1",
      undefined,
      0,
      "2001:db8:1:2::/64"
    ],
    ["a compressed IPv6 address", "2001:db8::1", undefined, 0, "2001:db8:0:0::/64"],
    ["loopback", "::1", undefined, 0, "0:0:0:0::/64"],
    ["a zone is dropped", "fe80::1%eth0", undefined, 0, "fe80:0:0:0::/64"]
  ]
  for (const [name, socket, forwarded, hops, expected] of cases) {
    test(name, () => expect(clientAddressOf(request(socket, forwarded), hops)).toBe(expected))
  }
})
