// A database behind TLS: the embedded Postgres with a certificate.
import { describe, expect, test } from "bun:test"
import { chownSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect, Redacted } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { joinEmbeddedPostgres } from "../../../src/platform/database/EmbeddedPostgres.ts"
import { makeCertificates } from "../../support/certificates.ts"
import { noChain } from "../../support/databaseWorld.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"
import { tcpProxy } from "../../support/tcpProxy.ts"

const certificates = makeCertificates()

/** A Postgres whose certificate is for `localhost`. */
const encrypted = Effect.gen(function* () {
  if (certificates === undefined) return yield* Effect.die("no openssl")
  const directory = yield* temporaryDirectory
  const port = yield* freePort(0)
  const { password } = yield* joinEmbeddedPostgres(directory, {
    listen_addresses: "127.0.0.1",
    port: String(port),
    fsync: "off"
  })
  const data = join(directory, "data")
  const { gid, uid } = statSync(join(data, "PG_VERSION"))
  const { cert, key } = certificates.issue(["localhost"])
  for (const [name, text] of [
    ["server.crt", cert],
    ["server.key", key]
  ] as const) {
    writeFileSync(join(data, name), text, { mode: 0o600 })
    chownSync(join(data, name), uid, gid)
  }
  const authority = join(directory, "authority.pem")
  writeFileSync(authority, certificates.authority)
  const server = `postgres://postgres:${Redacted.value(password)}@localhost:${port}/postgres`
  const admin = yield* Effect.acquireRelease(
    Effect.sync(() => new SQL(server, { max: 1 })),
    (sql) => Effect.promise(() => sql.close())
  )
  yield* Effect.promise(async () => {
    await admin.unsafe("ALTER SYSTEM SET ssl = on")
    await admin.unsafe("SELECT pg_reload_conf()")
  })
  return { admin, authority, server }
})

const started = Effect.fnUntraced(function* (url: string, env: Readonly<Record<string, string>> = {}) {
  const DATA_DIR = yield* temporaryDirectory
  return yield* spawnService({ DATABASE_URL: url, DATA_DIR, ...noChain, ...env })
})

describe("a database over TLS", () => {
  if (certificates === undefined)
    return test.skip("skipped: openssl, which makes the certificates, is not on this machine", () => {})

  liveEffect("every start succeeds, and all sessions are encrypted", () =>
    Effect.gen(function* () {
      const { admin, authority, server } = yield* encrypted
      const url = yield* ownDatabase({ server })
      for (let start = 0; start < 3; start++) {
        const service = yield* started(`${url}?${start === 0 ? "ssl=true" : "sslmode=require"}`, {
          NODE_EXTRA_CA_CERTS: authority
        })
        yield* untilReady(service)
        const rows = yield* Effect.promise(
          () => admin`
              SELECT DISTINCT ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
              WHERE application_name LIKE 'quittance%'`
        )
        expect(Array.from(rows)).toEqual([{ ssl: true }])
        yield* service.kill("SIGTERM")
        yield* service.succeeded
      }
    })
  )

  liveEffect("a silent path is given up: the service serves again within seconds", () =>
    Effect.gen(function* () {
      const { authority, server } = yield* encrypted
      const proxy = yield* tcpProxy(Number(new URL(server).port))
      const url = new URL(yield* ownDatabase({ server }))
      url.port = String(proxy.port)
      const service = yield* started(`${url}?sslmode=require`, {
        NODE_EXTRA_CA_CERTS: authority
      })
      yield* untilReady(service)
      proxy.freeze()
      // The longest time that `/readyz` may take to notice, and to open new sessions.
      yield* Effect.sleep("5 seconds")
      const { status } = yield* Effect.promise(() => fetch(`${service.baseUrl}/readyz`)).pipe(
        Effect.delay("200 millis"),
        Effect.repeat({ until: (answer) => answer.status === 200, times: 100 })
      )
      expect(status).toBe(200)
    })
  )

  liveEffect("a certificate of an unknown authority is refused, and the error names the setting", () =>
    Effect.gen(function* () {
      const { server } = yield* encrypted
      const service = yield* started(`${server}?sslmode=require`)
      expect(yield* service.exited).toBe(1)
      expect(service.output()).toContain("set NODE_EXTRA_CA_CERTS to its authority's certificate file")
    })
  )
})
