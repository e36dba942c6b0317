// A dump taken while the service writes, restored elsewhere: a service starts on the copy, sends the due deliveries
// under the same ids, and settles nothing twice.

import { describe, expect } from "bun:test"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect } from "effect"
import { LocalChain } from "../../src/app/dev/LocalChain.ts"
import { Address } from "../../src/domain/Chain.ts"
import { networks } from "../../src/domain/networks.ts"
import { createDidToken } from "../../src/payments/buyers/createDidToken.ts"
import { postgresPrograms } from "../crash/cluster.ts"
import { send } from "../support/contractCheck.ts"
import { listening } from "../support/listening.ts"
import { ownDatabase, postgresUrl } from "../support/ownDatabase.ts"
import { temporaryDirectory } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"
import { instanceCluster, until } from "./cluster.ts"
import { newTally, shop } from "./shoppers.ts"

const programs = postgresPrograms()
const receiver = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
const { usdc, chainId } = networks.test

const run = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = Bun.spawn([join(programs ?? "", program), ...args], { stderr: "pipe", stdout: "ignore" })
    const told = await new Response(child.stderr).text()
    if ((await child.exited) !== 0) throw new Error(`${program}: ${told}`)
  })

const major = async () => {
  const sql = new SQL(postgresUrl, { max: 1 })
  const [row] = await sql`SELECT current_setting('server_version_num')::int / 10000 AS major`
  await sql.close()
  return Number(row.major)
}
const dumps = Number(/(\d+)\/bin$/.exec(programs ?? "")?.[1] ?? 0)
const why =
  programs === undefined
    ? ": no pg_dump here"
    : dumps < (await major())
      ? `: pg_dump ${dumps} is older than the server`
      : ""

describe.skipIf(why !== "")(`Backup and restore${why}`, () => {
  liveEffect("a dump under load restores to a working service", () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const directory = yield* temporaryDirectory
      const received: Array<string> = []
      let accepting = false
      const hook = yield* listening(async (request) => {
        const { id } = JSON.parse(await request.text())
        if (accepting) received.push(id)
        return new Response("noted", { status: accepting ? 200 : 503 })
      })
      const settings = {
        BASE_SEPOLIA_RPC_URLS: chain.rpcUrl,
        ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
        TESTNET_CONFIRMATIONS: "0",
        WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${hook.port}`,
        RATE_LIMIT_PER_KEY: "100000",
        SHUTDOWN_DELAY: "0s"
      }
      const liveUrl = yield* ownDatabase()
      const live = yield* instanceCluster(liveUrl, settings)
      const instance = yield* live.start()
      const created = JSON.parse(
        yield* live.cli("merchant", "create", "--name", "Shop", "--receiver", receiver, "--json")
      )
      const keys = created.keys.test
      yield* Effect.promise(() =>
        send(live.balancer.url, {
          method: "POST",
          path: "/api/v1/webhook-endpoint",
          key: keys.secret,
          body: { url: `http://127.0.0.1:${hook.port}/hooks` }
        })
      )
      const wallets = [2, 3].map((index) => chain.walletClient(index))
      for (const { account } of wallets) yield* chain.mint(Address.make(account.address), 1_000_000_000n)
      const tally = newTally()
      let going = true
      const load = Promise.all(
        wallets.map((wallet) => shop({ baseUrl: live.balancer.url, keys, wallet, tally, going: () => going }))
      )
      yield* until("some payments have settled", () => tally.settled.length >= 10)
      const dump = join(directory, "quittance.dump")
      yield* run("pg_dump", "--format=custom", `--file=${dump}`, `--dbname=${liveUrl}`)
      const settledBefore = tally.settled.length
      yield* until("more have settled since", () => tally.settled.length >= settledBefore + 3)
      going = false
      yield* Effect.promise(() => load)
      expect(tally.wrong).toEqual([])
      yield* instance.kill("SIGTERM")
      yield* instance.succeeded

      const copyUrl = yield* ownDatabase()
      yield* run("pg_restore", "--exit-on-error", "--no-owner", `--dbname=${copyUrl}`, dump)
      const sql = yield* Effect.acquireRelease(
        Effect.sync(() => new SQL(copyUrl, { max: 1 })),
        (open) => Effect.promise(() => open.close())
      )
      const found: ReadonlyArray<{ id: string }> = yield* Effect.promise(
        () => sql`SELECT id FROM payments WHERE status = 'settled'`
      )
      const inDump = new Set(found.map(({ id }) => id))
      expect(inDump.size).toBeGreaterThanOrEqual(10)
      const due: ReadonlyArray<{ id: string }> = yield* Effect.promise(
        () => sql`UPDATE webhook_deliveries SET due_at = now() WHERE due_at IS NOT NULL RETURNING id`
      )
      expect(due.length).toBeGreaterThanOrEqual(10)

      accepting = true
      const copy = yield* instanceCluster(copyUrl, { ...settings, BASE_URL: live.balancer.url })
      yield* copy.start()
      yield* until(
        "what was due has come, under its own ids",
        () => {
          return due.every(({ id }) => received.includes(id))
        },
        60_000
      )

      // Buyers report again the payments that the dump has and those that it lost: each transfer settles its payment,
      // once.
      const didTokens = yield* Effect.forEach(wallets, ({ account }) =>
        Effect.promise(() =>
          createDidToken(account, {
            audience: live.balancer.url,
            lifetimeSeconds: 900,
            now: Math.floor(Date.now() / 1000)
          })
        )
      )
      for (const { id, transactionId } of tally.settled) {
        const known = yield* Effect.promise(() =>
          send(copy.balancer.url, { method: "GET", path: `/api/v1/payments/${id}`, key: keys.secret })
        )
        if (known.status === 404) continue
        const transaction = yield* Effect.promise(() =>
          chain.publicClient.getTransaction({ hash: `0x${transactionId.slice(2)}` })
        )
        const index = wallets.findIndex(
          ({ account }) => account.address.toLowerCase() === transaction.from.toLowerCase()
        )
        const report = Effect.promise(() =>
          send(copy.balancer.url, {
            method: "PATCH",
            path: `/api/v1/payments/${id}`,
            key: keys.publishable,
            body: {
              buyerDidToken: didTokens[index] ?? "",
              transactionId,
              tokenChanges: [{ amountAtomic: "1000000", chainId, receiver, tokenAddress: usdc.address }]
            }
          })
        )
        // 202 while a node is slow.
        const answer = yield* report.pipe(
          Effect.tap(({ status }) => (status === 202 ? Effect.sleep("200 millis") : Effect.void)),
          Effect.repeat({ until: ({ status }) => status !== 202, times: 150 })
        )
        expect(answer.status).toBe(200)
        // A stored report settles without its buyer, so the copy may be ahead of the dump.
        if (known.body.payment.status === "settled")
          expect(answer.body.payment.settledAt).toBe(known.body.payment.settledAt)
        if (inDump.delete(id)) expect(known.body.payment.status).toBe("settled")
      }
      expect([...inDump]).toEqual([])
      const [after] = yield* Effect.promise(
        () => sql`
            SELECT (SELECT count(*)::int FROM payments WHERE status = 'settled') AS settled,
              (SELECT count(*)::int FROM claimed_transfers) AS claimed,
              count(*)::int AS deliveries, count(DISTINCT payment_id)::int AS paid
            FROM webhook_deliveries WHERE type = 'payment.settled'`
      )
      expect(after.claimed).toBe(after.settled)
      expect(after.deliveries).toBe(after.settled)
      expect(after.paid).toBe(after.settled)
    }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
  )
})
