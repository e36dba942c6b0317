// `bun run fuzz [COUNT] [SEED]`: 100,000 requests by default, in rounds with progress. Add a failing request to
// test/fuzz/kept.json.
import { Effect } from "effect"
import { joinTestPostgres } from "../support/testPostgres.ts"

const given = process.env["TEST_DATABASE_URL"]
const postgres = given === undefined ? await joinTestPostgres() : { url: given, leave: async () => {} }
process.env["TEST_DATABASE_URL"] = postgres.url
// The module reads the variable when it loads.
const { fuzz } = await import("./fuzz.ts")

const total = Number(process.argv[2] ?? 100_000)
const first = Number(process.argv[3] ?? crypto.getRandomValues(new Uint32Array(1))[0])
const round = 10_000
let sent = 0
let failed = 0

for (let index = 0; sent < total; index++) {
  const seed = first + index
  const result = await Effect.runPromise(fuzz(Math.min(round, total - sent), seed))
  sent += result.requests
  failed += result.failures.length
  console.log(
    `seed ${seed}: ${sent} of ${total} requests, ${failed} failures`,
    JSON.stringify(result.statuses)
  )
  for (const failure of result.failures.slice(0, 5)) console.error(JSON.stringify(failure, null, 2))
}
console.log(
  failed === 0
    ? `${sent} requests, every answer within the contract.`
    : `${failed} failures. Add them to test/fuzz/kept.json and mend the service.`
)
await postgres.leave()
process.exit(failed === 0 ? 0 : 1)
