// Sends random requests to the running service and checks every answer against the contract: no 5xx, nothing outside
// the envelope, nothing invalid, no hang.

import { Effect } from "effect"
import fc from "fast-check"
import { buyer, makeShop, stranger } from "../platform/http/shop.ts"
import { type Call, send } from "../support/contractCheck.ts"
import { testDatabase } from "../support/database.ts"
import { startService } from "../support/service.ts"
import kept from "./kept.json" with { type: "json" }
import { type Known, requests } from "./requests.ts"

export interface FuzzResult {
  readonly requests: number
  readonly statuses: Readonly<Record<string, number>>
  readonly failures: ReadonlyArray<{ readonly call: Call; readonly problem: string }>
}

const hangMillis = 10_000

const attempt = async (
  baseUrl: string,
  call: Call
): Promise<{ readonly status?: number; readonly problem?: string }> => {
  // Requests that the client itself cannot form are skipped.
  try {
    new Request(`${baseUrl}${call.path}`, { headers: call.headers ?? {} })
  } catch {
    return {}
  }
  const body = call.method === "GET" || call.method === "HEAD" ? undefined : call.body
  try {
    const answer = await Promise.race([
      send(baseUrl, { ...call, body }),
      Bun.sleep(hangMillis).then(() => {
        throw new Error("no answer within 10 s")
      })
    ])
    return { status: answer.status }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Sends `count` requests drawn with `seed`, after those that have failed before. */
export const fuzz = (count: number, seed: number): Effect.Effect<FuzzResult> =>
  Effect.scoped(
    Effect.gen(function* () {
      const database = testDatabase
      const service = yield* startService(database)
      const known: Known = yield* Effect.promise(async () => {
        const shop = await makeShop(service)
        const opened = await Promise.all(["1", "10.00", "0.50"].map((amount) => shop.open(amount)))
        const settled = await shop.settle("1.00", 1_000_000n)
        const intents = await Promise.all(["1", "2"].map((amount) => shop.createIntent(amount)))
        return {
          keys: Object.values(shop.keys),
          full: shop.keys.full,
          publishable: shop.keys.publishable,
          paymentIds: [...opened.map((one) => one.body.payment.id), settled.payment.id],
          intentTokens: intents.map((one) => one.body.intentToken),
          transactionIds: [settled.transactionId, `0x${"ab".repeat(32)}`, await shop.transfer(1_000_000n)],
          addresses: [buyer, stranger, buyer.toLowerCase()]
        }
      })

      const statuses: Record<string, number> = {}
      const failures: Array<{ call: Call; problem: string }> = []
      const drawn: ReadonlyArray<Call> = [
        ...(kept as ReadonlyArray<Call>),
        ...fc.sample(requests(known), { numRuns: count, seed })
      ]
      yield* Effect.forEach(
        drawn,
        (call) =>
          Effect.promise(async () => {
            const { status, problem } = await attempt(service.baseUrl, call)
            if (problem !== undefined) failures.push({ call, problem })
            const group = status === undefined ? "unsent" : String(status)
            statuses[group] = (statuses[group] ?? 0) + 1
          }),
        { concurrency: 16, discard: true }
      )
      return { requests: drawn.length - (statuses["unsent"] ?? 0), statuses, failures }
    })
  )
