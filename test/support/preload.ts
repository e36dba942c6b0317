// Before each test file: where files are kept, and the Postgres of the tests, unless TEST_DATABASE_URL names another.
import { afterAll } from "bun:test"
import { scratchDirectory } from "./scratchDirectory.ts"
import { joinTestPostgres } from "./testPostgres.ts"

process.env["TMPDIR"] = scratchDirectory()

if (process.env["TEST_DATABASE_URL"] === undefined) {
  const postgres = await joinTestPostgres()
  process.env["TEST_DATABASE_URL"] = postgres.url
  afterAll(() => postgres.leave(), 120_000)
}
