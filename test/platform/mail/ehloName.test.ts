import { expect, test } from "bun:test"
import { ehloName } from "../../../src/platform/mail/ehloName.ts"

test("the service introduces itself to a mail server by BASE_URL's host, an address as a literal", () => {
  expect(ehloName("https://pay.example.com:8443")).toBe("pay.example.com")
  expect(ehloName("http://203.0.113.7:8787")).toBe("[203.0.113.7]")
  expect(ehloName("http://[2001:db8::1]")).toBe("[IPv6:2001:db8::1]")
})
