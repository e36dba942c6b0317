import { expect, test } from "bun:test"
import { isLoopback } from "../../../src/platform/http/isLoopback.ts"

test.each(["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "::1", "[::ffff:127.0.0.1]"])(
  "%s is this machine",
  (host) => expect(isLoopback(host)).toBe(true)
)
test.each(["localhost.example", "127.0.0.1.example", "10.0.0.1", "[::2]", "0.0.0.0", ""])(
  "%s is not",
  (host) => expect(isLoopback(host)).toBe(false)
)
