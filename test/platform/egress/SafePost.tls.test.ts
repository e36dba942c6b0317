// Webhook servers whose TLS is wrong in one way each: not a byte of the delivery may reach them.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect } from "effect"
import { type Certificates, type KeyPair, makeCertificates } from "../../support/certificates.ts"
import { scriptedDns } from "../../support/dnsServer.ts"
import { type RawReceiverOptions, rawReceiver } from "../../support/rawReceiver.ts"
import { liveEffect } from "../../support/run.ts"
import { type EgressOptions, expectClosed, gist, makeSender, requestTo } from "./egress.ts"

setDefaultTimeout(60_000)

const name = "shop.example.com"

/** Sends to a server at `name`, which the policy allows on 127.0.0.1. */
const deliver = (
  certificates: Certificates,
  options: RawReceiverOptions,
  egress: Pick<EgressOptions, "budgets" | "certificateAuthorities"> = {}
) =>
  Effect.gen(function* () {
    const dns = yield* scriptedDns
    dns.set(name, { a: ["127.0.0.1"] })
    const receiver = yield* rawReceiver(options)
    const sender = yield* makeSender({
      dns,
      allowedHosts: [`${name}:${receiver.port}`],
      certificateAuthorities: [certificates.authority],
      ...egress
    })
    const send = sender.send(requestTo(`https://${name}:${receiver.port}/hook`))
    return { receiver, send, outcome: yield* send }
  })

const suite = (certificates: Certificates): void => {
  afterAll(certificates.remove)
  const good = certificates.issue([name])

  for (const [kind, names] of [
    ["the name", [name]],
    ["the name among others", ["other.example.com", name]],
    ["a wildcard over the name", ["*.example.com"]]
  ] as const) {
    liveEffect(`a certificate for ${kind} is accepted, and its connection kept`, () =>
      Effect.gen(function* () {
        const { receiver, send, outcome } = yield* deliver(certificates, { tls: certificates.issue(names) })
        expect(gist(outcome)).toBe(200)
        expect(gist(yield* send)).toBe(200)
        expect([receiver.connections(), receiver.requests.length]).toEqual([1, 2])
      })
    )
  }

  liveEffect("the handshake contains the name, so that shared hosts choose the right certificate", () =>
    Effect.gen(function* () {
      const other = certificates.issue(["other.example.com"])
      const told: Array<string> = []
      const { outcome } = yield* deliver(certificates, {
        tls: {
          ...other,
          SNICallback: (serverName, done) => {
            told.push(serverName)
            import("node:tls").then((tls) => done(null, tls.createSecureContext(good)), done)
          }
        }
      })
      expect([gist(outcome), told]).toEqual([200, [name]])
    })
  )

  const refused: ReadonlyArray<readonly [string, KeyPair]> = [
    ["self-signed", certificates.selfSigned(name)],
    ["expired", certificates.issue([name], -1)],
    ["of another host", certificates.issue(["other.example.com"])],
    ["of a deeper wildcard", certificates.issue(["*.shop.example.com"])],
    ["of the parent domain", certificates.issue(["example.com"])]
  ]
  for (const [kind, tls] of refused) {
    liveEffect(`a certificate ${kind} is refused before the request`, () =>
      Effect.gen(function* () {
        const { receiver, outcome } = yield* deliver(certificates, { tls })
        expect(gist(outcome)).toBe("tls")
        expect([receiver.connections(), receiver.requests.length]).toEqual([1, 0])
      })
    )
  }

  liveEffect("a certificate of an unknown authority is refused, whatever the environment says", () =>
    Effect.gen(function* () {
      const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env
      Object.assign(process.env, { NODE_TLS_REJECT_UNAUTHORIZED: "0" })
      const { receiver, outcome } = yield* deliver(
        certificates,
        { tls: good },
        {
          certificateAuthorities: [certificates.selfSigned("some.authority").cert]
        }
      )
      if (before === undefined) Reflect.deleteProperty(process.env, "NODE_TLS_REJECT_UNAUTHORIZED")
      else Object.assign(process.env, { NODE_TLS_REJECT_UNAUTHORIZED: before })
      expect([gist(outcome), receiver.requests.length]).toEqual(["tls", 0])
    })
  )

  liveEffect("old protocol versions are refused", () =>
    Effect.gen(function* () {
      const { outcome } = yield* deliver(certificates, {
        tls: { ...good, maxVersion: "TLSv1.1", minVersion: "TLSv1" }
      })
      expect(gist(outcome)).toBe("tls")
    })
  )

  liveEffect("a stalled handshake ends within its own budget", () =>
    Effect.gen(function* () {
      const { receiver, outcome } = yield* deliver(
        certificates,
        { mute: true },
        { budgets: { tlsMillis: 300 } }
      )
      expect(gist(outcome)).toBe("tls")
      expect(outcome.durationMs).toBeLessThan(2_500)
      yield* expectClosed(receiver)
      expect(receiver.connections()).toBe(1)
    })
  )

  liveEffect("a receiver without TLS", () =>
    Effect.gen(function* () {
      const { outcome, receiver } = yield* deliver(certificates, {}, { budgets: { tlsMillis: 300 } })
      expect([gist(outcome), receiver.requests.length]).toEqual(["tls", 0])
    })
  )
}

describe("TLS", () => {
  const certificates = makeCertificates()
  if (certificates !== undefined) suite(certificates)
  else test.skip("skipped: openssl, which makes the certificates, is not on this machine", () => {})
})
