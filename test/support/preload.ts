// Before each test file: the Postgres of the tests, unless TEST_DATABASE_URL names another.
import { afterAll } from "bun:test"
import { joinTestPostgres } from "./testPostgres.ts"

if (process.env["TEST_DATABASE_URL"] === undefined) {
  const postgres = await joinTestPostgres()
  process.env["TEST_DATABASE_URL"] = postgres.url
  afterAll(() => postgres.leave(), 120_000)
}
