// Names that resolve to private addresses: whatever the DNS answers, a canary on 127.0.0.1 must count 0 connections.
import { describe, expect } from "bun:test"
import { Effect, Result } from "effect"
import { checkEgressUrl } from "../../../src/platform/egress/EgressUrl.ts"
import { type DnsServer, type Script, scriptedDns } from "../../support/dnsServer.ts"
import { rawReceiver } from "../../support/rawReceiver.ts"
import { liveEffect } from "../../support/run.ts"
import { gist, makeSender, requestTo, shortBudgets } from "./egress.ts"
import addresses from "./ssrf-addresses.json"

const setUp = Effect.gen(function* () {
  const dns = yield* scriptedDns
  const canary = yield* rawReceiver({ host: "0.0.0.0" })
  const sender = yield* makeSender({ dns, ownHosts: ["pay.quittance.dev", "9.9.9.9"], budgets: shortBudgets })
  const url = `https://shop.example.com:${canary.port}/hook`
  return { dns, canary, sender, url }
})

const numbered = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `8.8.4.${index + 1}`)

const scenarios: ReadonlyArray<readonly [name: string, script: Script, expected: string]> = [
  ["a private address", { a: ["127.0.0.1"] }, "blocked"],
  ["a private address among public ones", { a: ["8.8.4.4", "127.0.0.1", "8.8.8.8"] }, "blocked"],
  ["public IPv4 and private IPv6", { a: ["8.8.4.4"], aaaa: ["::1"] }, "blocked"],
  ["only private IPv6", { aaaa: ["::1"] }, "blocked"],
  ["IPv6 that wraps 127.0.0.1", { aaaa: ["::ffff:127.0.0.1"] }, "blocked"],
  ["an alias to a private name", { cname: "db.internal.example.com", a: ["127.0.0.1"] }, "blocked"],
  ["an alias to private IPv6", { cname: "db.internal.example.com", aaaa: ["fd00::1"] }, "blocked"],
  ["the deployment's own public address", { a: ["9.9.9.9"] }, "blocked"],
  ["no such name", { behaviour: "nxdomain" }, "dns"],
  ["no addresses", {}, "dns"],
  ["a failing server", { behaviour: "servfail" }, "dns"],
  ["silence", { behaviour: "silent" }, "dns"],
  ["garbage", { behaviour: "garbage" }, "dns"],
  ["17 answers", { a: numbered(17) }, "dns"],
  ["a private address hidden behind 16 public ones", { a: [...numbered(16), "127.0.0.1"] }, "dns"],
  ["an endless alias", { cname: "shop.example.com" }, "dns"]
]

describe("a name that resolves to", () => {
  for (const [name, script, expected] of scenarios) {
    liveEffect(name, () =>
      Effect.gen(function* () {
        const { dns, canary, sender, url } = yield* setUp
        dns.set("shop.example.com", script)
        const outcome = yield* sender.send(requestTo(url))
        expect(gist(outcome)).toBe(expected)
        expect(outcome.durationMs).toBeLessThan(shortBudgets.totalMillis + 10_000)
        // The merchant's result must not reveal where the name resolved.
        expect(Object.keys(outcome).toSorted()).toEqual(["_tag", "durationMs", "failure"])
        expect(canary.connections()).toBe(0)
      })
    )
  }
})

describe("a name that changes", () => {
  liveEffect("between registration and delivery is refused at delivery", () =>
    Effect.gen(function* () {
      const { dns, canary, sender, url } = yield* setUp
      dns.set("shop.example.com", { a: ["8.8.4.4"] })
      expect(Result.isSuccess(checkEgressUrl(url, { ownHosts: [], allowedHosts: [] }))).toBe(true)
      dns.set("shop.example.com", { a: ["127.0.0.1"] })
      expect(gist(yield* sender.send(requestTo(url)))).toBe("blocked")
      expect(canary.connections()).toBe(0)
    })
  )

  liveEffect("between check and connection is connected as checked, and resolved once an attempt", () =>
    Effect.gen(function* () {
      const dns = yield* scriptedDns
      const receiver = yield* rawReceiver({ host: "0.0.0.0" })
      const sender = yield* makeSender({ dns, allowedHosts: [`shop.example.com:${receiver.port}`] })
      dns.set("shop.example.com", (asked) => ({ a: [`127.0.0.${asked + 2}`] }))
      expect(gist(yield* sender.send(requestTo(`http://shop.example.com:${receiver.port}/`)))).toBe(200)
      expect(receiver.dialled).toEqual(["127.0.0.2"])
      expect(dns.questions.filter((question) => question === "shop.example.com/1")).toHaveLength(1)
    })
  )
})

describe("the corpus", () => {
  liveEffect("no name can reach a non-public address of it", () =>
    Effect.gen(function* () {
      const { dns, canary, sender } = yield* setUp
      const inward = addresses.filter(
        ({ public: isPublic, address }) => !isPublic && /^[0-9a-fA-F:.]+$/.test(address)
      )
      let refused = 0
      for (const [index, { address }] of inward.entries()) {
        const name = `n${index}.example.com`
        if (!scriptFor(dns, name, address)) continue
        expect([address, gist(yield* sender.send(requestTo(`https://${name}:${canary.port}/`)))]).toEqual([
          address,
          "blocked"
        ])
        refused++
      }
      expect(refused).toBeGreaterThan(120)
      expect(canary.connections()).toBe(0)
    })
  )
})

/** False for spellings that no DNS answer can contain. */
const scriptFor = (dns: DnsServer, name: string, address: string): boolean => {
  const ipv6 = address.includes(":")
  if (ipv6 ? URL.canParse(`http://[${address}]/`) : /^(?:(?:0|[1-9]\d*)\.){3}(?:0|[1-9]\d*)$/.test(address)) {
    if (!ipv6 && address.split(".").some((part) => Number(part) > 255)) return false
    dns.set(name, ipv6 ? { aaaa: [address] } : { a: [address] })
    return true
  }
  return false
}

describe("a url that cannot be registered", () => {
  for (const [name, make] of [
    ["an address", (port: number) => `https://127.0.0.1:${port}/`],
    ["an address in decimal", (port: number) => `https://2130706433:${port}/`],
    ["plain http", (port: number) => `http://shop.example.com:${port}/`],
    ["localhost", (port: number) => `https://localhost:${port}/`],
    ["the own host", (port: number) => `https://pay.quittance.dev:${port}/`],
    ["not a url", () => "nonsense"]
  ] as const) {
    liveEffect(`is refused at delivery too: ${name}`, () =>
      Effect.gen(function* () {
        const { dns, canary, sender } = yield* setUp
        for (const host of ["shop.example.com", "pay.quittance.dev", "localhost"])
          dns.set(host, { a: ["8.8.4.4"] })
        expect(gist(yield* sender.send(requestTo(make(canary.port))))).toBe("blocked")
        expect([canary.connections(), dns.questions.length]).toEqual([0, 0])
      })
    )
  }

  liveEffect("an allowed host is allowed on its own port only", () =>
    Effect.gen(function* () {
      const dns = yield* scriptedDns
      const canary = yield* rawReceiver()
      const receiver = yield* rawReceiver()
      const sender = yield* makeSender({ dns, allowedHosts: [`dev.example.com:${receiver.port}`] })
      dns.set("dev.example.com", { a: ["127.0.0.1"] })
      expect(gist(yield* sender.send(requestTo(`http://DEV.example.com:${receiver.port}/`)))).toBe(200)
      expect(gist(yield* sender.send(requestTo(`https://dev.example.com:${canary.port}/`)))).toBe("blocked")
      expect(canary.connections()).toBe(0)
    })
  )
})
