// Three instances on one Postgres sign for one agent, fifty at once, and one of them is killed in the middle of some
// rounds: the cap is never exceeded, by the database and by the answers.
import { SQL } from "bun"
import { Effect } from "effect"
import { decodeHeader } from "../../../src/x402/Wire.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { requirementsV2 } from "../x402World.ts"

export interface CapRun {
  readonly rounds: number
  readonly kills: number
  /** Signed authorizations that were returned. */
  readonly signed: number
  readonly refused: number
  /** Requests without an answer, because their instance was killed. */
  readonly unanswered: number
  /** Atomic units above the cap, summed over all rounds: by rows, and by returned authorizations. */
  readonly overshoot: bigint
}

const receiver = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
const parallel = 50
const killEvery = 10

const valueOf = (header: string): { readonly nonce: string; readonly value: bigint } => {
  const decoded = decodeHeader(header)
  if (decoded._tag === "None") throw new Error("not a payment header")
  const { authorization } = (
    decoded.value as { payload: { authorization: { nonce: string; value: string } } }
  ).payload
  return { nonce: authorization.nonce, value: BigInt(authorization.value) }
}

export const capRounds = (rounds: number, seed: number, log: (line: string) => void) =>
  Effect.gen(function* () {
    let state = seed
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state % below
    }
    const url = yield* ownDatabase()
    const dataDir = yield* temporaryDirectory
    const env = {
      DATABASE_URL: url,
      DATA_DIR: dataDir,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
      RATE_LIMIT_PER_KEY: "100000"
    }
    const cli = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
      const child = yield* spawnProgram(["src/app/cli/main.ts", ...args, "--json"], env)
      if ((yield* child.exited) !== 0) throw new Error(child.output())
      return JSON.parse(child.stdout())
    })
    const { merchant } = yield* cli("merchant", "create", "--name", "M", "--receiver", receiver)
    const start = Effect.gen(function* () {
      const service = yield* spawnService(env)
      yield* untilReady(service)
      return service
    })
    const instances = [yield* start, yield* start, yield* start]
    const sql = new SQL(url, { max: 2 })
    yield* Effect.addFinalizer(() => Effect.promise(() => sql.close()))

    // One agent for a block of rounds; its cap is raised for each round, so that every round reaches it.
    const { agent, key } = yield* cli(
      ...["agent", "create", "--merchant", merchant.id, "--env", "test", "--name", "A"],
      ...["--cap-per-payment", "1", "--cap-per-day", "1"]
    )
    let kills = 0
    let signed = 0
    let refused = 0
    let unanswered = 0
    let overshoot = 0n
    let cap = 0n
    const answered = new Map<string, bigint>()

    for (let round = 0; round < rounds; round++) {
      const room = BigInt(1 + random(20))
      const spentBefore = cap
      cap += room * 1_000n + BigInt(random(1_000))
      yield* Effect.promise(
        () =>
          // The limit for a minute is not under test: these payments are made older, within the same day.
          sql`UPDATE agent_payments SET created_at = created_at - interval '2 minutes' WHERE agent_id = ${agent.id}`
      )
      yield* Effect.promise(
        () => sql`UPDATE agents SET cap_per_day = ${cap.toString()}::numeric WHERE id = ${agent.id}`
      )
      const kill = round % killEvery === killEvery - 1
      const victim = random(3)
      const sends = Array.from({ length: parallel }, async (_, index) => {
        const instance = instances[index % 3]
        const response = await fetch(`${instance?.baseUrl}/api/v1/agent/x402/payments`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({
            requestId: `${round}-${index}`,
            resource: "https://api.example.com/",
            paymentRequired: { x402Version: 2, accepts: [requirementsV2(BigInt(500 + random(1_000)))] }
          })
        }).catch(() => undefined)
        const body = await response?.json().catch(() => undefined)
        return { status: response?.status, body }
      })
      if (kill) {
        yield* Effect.promise(() => Bun.sleep(5 + random(40)))
        yield* instances[victim]?.kill("SIGKILL") ?? Effect.void
        kills += 1
      }
      for (const { status, body } of yield* Effect.promise(() => Promise.all(sends))) {
        if (status === 201) {
          signed += 1
          const { nonce, value } = valueOf(body.header.value)
          answered.set(nonce, value)
        } else if (status === 403) refused += 1
        // Killed, or the machine was too slow for the database to answer in time.
        else if (status === undefined || status === 503) unanswered += 1
        else throw new Error(`unexpected answer ${status}: ${JSON.stringify(body)}`)
      }
      if (kill) instances[victim] = yield* start
      const [row] = yield* Effect.promise(
        () =>
          sql`SELECT coalesce(sum(amount), 0)::text AS spent FROM agent_payments WHERE agent_id = ${agent.id}`
      )
      const spent = BigInt(row.spent)
      const given = [...answered.values()].reduce((all, one) => all + one, 0n)
      if (spent > cap) overshoot += spent - cap
      if (given > cap) overshoot += given - cap
      if (spent === spentBefore) throw new Error("a round signed nothing")
      // The next round starts where this one ended.
      cap = spent
      if (round % 50 === 49)
        log(`${round + 1} rounds, ${signed} signed, ${kills} kills, overshoot ${overshoot}`)
    }
    const run: CapRun = { rounds, kills, signed, refused, unanswered, overshoot }
    return run
  })
