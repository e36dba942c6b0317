// Before each test file: the directory for files, and the Postgres of the tests, unless TEST_DATABASE_URL names
// another.
import { afterAll } from "bun:test"
import { scratchDirectory } from "./scratchDirectory.ts"
import { joinTestPostgres } from "./testPostgres.ts"

process.env["TMPDIR"] = scratchDirectory()
// Tests read what a person with Bun installed sees, though npx may have started them.
delete process.env["npm_config_user_agent"]

// Hundreds of tests sign in, at argon2's lowest cost. Passwords.test.ts checks the service's own cost.
const { hash } = Bun.password
Bun.password.hash = (password) => hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 })

if (process.env["TEST_DATABASE_URL"] === undefined) {
  const postgres = await joinTestPostgres()
  process.env["TEST_DATABASE_URL"] = postgres.url
  afterAll(() => postgres.leave(), 120_000)
}
