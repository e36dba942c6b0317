import { expect, test } from "bun:test"
import { Option, Redacted } from "effect"
import { startWarnings } from "../../../src/platform/AppConfig/startWarnings.ts"

const warned = (environment: "development" | "production", baseUrl: string, host = "127.0.0.1") =>
  startWarnings({ environment, baseUrl, host, redisUrl: Option.none(), sibling: Option.none() }).join()

test("production without TLS is warned of, but for this machine alone", () => {
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

test("development that others can reach is warned of", () => {
  expect(warned("development", "https://pay.example.com")).toStartWith("ENVIRONMENT is development")
  expect(warned("development", "http://localhost:8787", "93.184.216.34")).toContain("93.184.216.34")
  expect(warned("development", "http://localhost:8787")).toBe("")
})

test("processes that count requests apart are warned of", () => {
  const config = {
    environment: "production",
    baseUrl: "https://pay.example.com",
    host: "127.0.0.1",
    sibling: Option.some({ number: 1, of: 3, isFirst: true })
  } as const
  expect(startWarnings({ ...config, redisUrl: Option.none() })).toEqual([
    expect.stringMatching(/^3 processes serve .+ up to 3 times .+ Set REDIS_URL, and they count together\.$/)
  ])
  expect(startWarnings({ ...config, redisUrl: Option.some(Redacted.make("redis://localhost")) })).toEqual([])
})
