import { expect, test } from "bun:test"
import { startWarnings } from "../../src/AppConfig/startWarnings.ts"

const warned = (environment: "development" | "production", baseUrl: string, host = "127.0.0.1") =>
  startWarnings({ environment, baseUrl, host }).join()

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
