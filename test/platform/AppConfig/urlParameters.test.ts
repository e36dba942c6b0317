// An address parameter is obeyed, listed as without effect, or stops the start.
import { describe, expect, test } from "bun:test"
import {
  judgeParameters,
  parameterRules,
  unreadSslMode
} from "../../../src/platform/AppConfig/urlParameters.ts"
import { parseDatabaseUrl } from "../../../src/platform/database/DatabaseUrl.ts"

const database = (query: string) => {
  const url = `postgres://shop:hunter2@db.example.com/orders?${query}`
  const { refused, withoutEffect } = judgeParameters("DATABASE_URL", url, parameterRules.postgres)
  return { refused: refused.join("\n"), withoutEffect, first: parseDatabaseUrl(url)?.first ?? "" }
}

test("libpq's PGSSLMODE stops a start that it would not encrypt", () => {
  const refusal = (query: string, mode?: string) =>
    unreadSslMode("DATABASE_URL", `postgres://shop:a@db.example.com/orders${query}`, mode)
  for (const mode of ["require", "verify-ca", "verify-full", "no-verify"])
    expect(refusal("", mode)).toContain("Add ?sslmode=require to DATABASE_URL")
  for (const query of ["?sslmode=require", "?ssl=true", "?sslmode=disable"])
    expect(refusal(query, "require")).toBeUndefined()
  for (const mode of [undefined, "", "disable", "prefer"]) expect(refusal("", mode)).toBeUndefined()
})

describe("A database's address", () => {
  const encrypts = [
    "ssl=true",
    "ssl=1",
    "ssl=require",
    "ssl=true&sslmode=verify-full",
    "sslmode=require",
    "sslmode=verify-ca",
    "sslmode=verify-full&sslrootcert=system",
    "sslrootcert=system",
    "sslmode=require&sslaccept=strict",
    "sslmode=require&ssl_min_protocol_version=TLSv1.2",
    "sslmode=require&channel_binding=prefer&connect_timeout=10"
  ]
  for (const query of encrypts) {
    test(`${query} encrypts`, () => {
      const { first, refused } = database(query)
      expect(refused).toBe("")
      expect(first).toMatch(/\?sslmode=(require|verify-ca|verify-full)$/)
    })
  }

  const stops = [
    ["ssl=true&sslmode=disable", "sslmode=require"],
    ["ssl=false&sslmode=require", "sslmode=require"],
    ["ssl=prefer", "sslmode=require"],
    ["sslmode=no-verify", "NODE_EXTRA_CA_CERTS"],
    ["sslmode=REQUIRE", "sslmode=require"],
    ["sslmode=", "sslmode=require"],
    ["sslmode=require&sslmode=disable", "once"],
    ["sslmode=verify-full&sslrootcert=/etc/ca.pem", "NODE_EXTRA_CA_CERTS"],
    ["sslca=/etc/ca.pem", "NODE_EXTRA_CA_CERTS"],
    ["sslcert=/etc/a.pem&sslmode=require", "password"],
    ["sslcrl=/etc/crl.pem", "revocation"],
    ["sslmode=require&channel_binding=require", "only sslmode=require"],
    ["ssl_min_protocol_version=TLSv1.2", "sslmode=require"],
    ["sslmode=require&ssl_min_protocol_version=TLSv1.3", "on the server"],
    ["sslnegotiation=direct", "sslmode=require"],
    ["sslaccept=strict", "sslmode=require"],
    ["gssencmode=require", "sslmode=require"],
    ["require_auth=scram-sha-256", "pg_hba.conf"],
    ["SSL=true", "correct its name"],
    ["sslMode=require", "correct its name"],
    ["tls=true", "correct its name"],
    ["toString=1", "correct its name"],
    ["currentSchema=shop", "options="],
    ["service=shop", "correct its name"]
  ] as const
  for (const [query, paste] of stops) {
    test(`${query} stops the start`, () => {
      const { refused } = database(query)
      expect(refused).toStartWith("DATABASE_URL has ")
      expect(refused).toContain(paste)
      expect(refused).not.toContain("hunter2")
      expect(refused).not.toContain("/etc/")
    })
  }

  test("parameters of providers and poolers have no effect, and are listed", () => {
    expect(database("pgbouncer=true&connection_limit=1&pool_max_conns=5&application_name=shop")).toEqual({
      refused: "",
      withoutEffect: ["pgbouncer", "connection_limit", "pool_max_conns", "application_name"],
      first: "postgres://shop:hunter2@db.example.com:5432/orders"
    })
    expect(database("options=endpoint%3Dcool-darkness&sslmode=require")).toEqual({
      refused: "",
      withoutEffect: [],
      first:
        "postgres://shop:hunter2@db.example.com:5432/orders?options=endpoint%3Dcool-darkness&sslmode=require"
    })
  })

  test("part of a password is not shown", () => {
    expect(database("password=x&hunter2").refused).toBe(
      "DATABASE_URL has a parameter, which this service does not support. It is unknown: remove it, or correct its name."
    )
  })
})

const judge = (url: string) => {
  const isRedis = url.startsWith("redis")
  return judgeParameters(
    isRedis ? "REDIS_URL" : "SMTP_URL",
    url,
    isRedis ? parameterRules.redis : parameterRules.mail
  )
}

describe("The addresses of Redis and of the mail server", () => {
  for (const [url, paste] of [
    ["redis://:hunter2@cache?ssl=true", "rediss://"],
    ["redis://cache?tls=true", "rediss://"],
    ["redis://cache?ssl_cert_reqs=required", "rediss://"],
    ["rediss://cache?tls=false", "redis://"],
    ["rediss://cache?ssl_ca_certs=/etc/ca.pem", "NODE_EXTRA_CA_CERTS"],
    ["redis://cache?db=3", "path"],
    ["redis://cache?sentinel=x", "correct its name"],
    ["smtp://u:hunter2@mail:587?ssl=true", "requireTLS=true"],
    ["smtp://mail:587?starttls=required", "requireTLS=true"],
    ["smtp://mail:587?secure=true", "smtps://"],
    ["smtp://mail:587?requiretls=true", "requireTLS=true"],
    ["smtp://mail:587?tls.ca=/etc/ca.pem", "NODE_EXTRA_CA_CERTS"],
    ["smtp://mail:587?dkim=x", "correct its name"]
  ] as const) {
    test(`${url.replace("hunter2", "…")} stops the start`, () => {
      const refused = judge(url).refused.join()
      expect(refused).toContain(paste)
      expect(refused).not.toContain("hunter2")
    })
  }

  for (const [url, withoutEffect] of [
    ["rediss://cache/2?ssl_cert_reqs=required&client_name=shop", ["ssl_cert_reqs", "client_name"]],
    ["redis://cache?ssl=false", ["ssl"]],
    ["smtps://mail?secure=true", ["secure"]],
    [
      "smtp://u:a?b@mail:587?requireTLS=true&name=shop.example&tls.servername=mail.example&pool=true",
      ["pool"]
    ]
  ] as const) {
    test(`${url} starts`, () => expect<unknown>(judge(url)).toEqual({ refused: [], withoutEffect }))
  }
})
