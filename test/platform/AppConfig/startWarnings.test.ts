import { expect, test } from "bun:test"
import { Option, Redacted } from "effect"
import { startWarnings } from "../../../src/platform/AppConfig/startWarnings.ts"

const addresses = {
  database: { _tag: "Embedded", directory: "/data/postgres" },
  redisUrl: Option.none(),
  replicaUrl: Option.none(),
  smtp: Option.none()
} as const

const warned = (environment: "development" | "production", baseUrl: string, host = "127.0.0.1") =>
  startWarnings({ ...addresses, environment, baseUrl, host, processSlot: Option.none() }).join()

test("production without TLS is warned about, except on this machine", () => {
  for (const baseUrl of ["http://pay.example.com", "http://10.0.0.7:8787", "http://[2001:db8::1]"])
    expect(warned("production", baseUrl)).toMatch(/^BASE_URL is .+ set BASE_URL to its https:\/\/ origin\.$/)
  for (const baseUrl of [
    "https://pay.example.com",
    "http://localhost:8787",
    "http://127.0.0.1",
    "http://[::1]:1"
  ])
    expect(warned("production", baseUrl)).toBe("")
})

test("development that other machines can reach is warned about", () => {
  expect(warned("development", "https://pay.example.com")).toStartWith("ENVIRONMENT is development")
  expect(warned("development", "http://localhost:8787", "93.184.216.34")).toContain("93.184.216.34")
  expect(warned("development", "http://localhost:8787")).toBe("")
})

test("processes that count requests separately are warned about", () => {
  const config = {
    ...addresses,
    environment: "production",
    baseUrl: "https://pay.example.com",
    host: "127.0.0.1",
    processSlot: Option.some({ number: 1, of: 3, isFirst: true })
  } as const
  expect(startWarnings({ ...config, redisUrl: Option.none() })).toEqual([
    expect.stringMatching(
      /^3 processes serve .+ up to 3 times .+ Set REDIS_URL to count requests together\.$/
    )
  ])
  expect(startWarnings({ ...config, redisUrl: Option.some(Redacted.make("redis://localhost")) })).toEqual([])
})

test("address parameters without effect are listed", () => {
  const of = (url: string) => Option.some(Redacted.make(url))
  const config = {
    environment: "production",
    baseUrl: "https://pay.example.com",
    host: "127.0.0.1",
    processSlot: Option.none(),
    database: {
      _tag: "Postgres",
      url: Redacted.make("postgres://u:p@db/shop?pgbouncer=true&sslmode=require")
    },
    replicaUrl: of("postgres://replica/shop?connect_timeout=3&application_name=shop"),
    redisUrl: of("redis://cache?protocol=3"),
    smtp: Option.some({ url: Redacted.make("smtp://mail?pool=true&requireTLS=true"), from: "a@b.example" })
  } as const
  const says = (variable: string, names: string) =>
    `${variable} has parameters without effect on this service: ${names}.`
  expect(startWarnings(config)).toEqual([
    says("DATABASE_URL", "pgbouncer"),
    says("DATABASE_REPLICA_URL", "connect_timeout, application_name"),
    says("REDIS_URL", "protocol"),
    says("SMTP_URL", "pool")
  ])
})
