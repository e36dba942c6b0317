// `doctor` beside a running service, and where things are wrong.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { freePort } from "../../src/dev/freePort.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../support/process.ts"
import { liveEffect } from "../support/run.ts"

/** A node that says what it is told to. */
const node = (chainId: number, ageSeconds: number) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch: async (request) => {
          const { method } = JSON.parse(await request.text())
          const hex = (value: number) => `0x${value.toString(16)}`
          const answers: Readonly<Record<string, unknown>> = {
            eth_chainId: hex(chainId),
            eth_getCode: "0x6001",
            eth_getBalance: "0x0",
            eth_getBlockByNumber: { timestamp: hex(Math.round(Date.now() / 1000) - ageSeconds) }
          }
          return Response.json({ jsonrpc: "2.0", id: 1, result: answers[method] })
        }
      })
    ),
    (server) => Effect.promise(() => server.stop(true))
  )

const findings = (output: string) =>
  JSON.parse(output.split("\n").find((line) => line.startsWith("{")) ?? "{}").findings.map(
    ({ about, level }: { readonly about: string; readonly level: string }) =>
      `${about.replace(/:\d+$/, "")} ${level}`
  )

describe("cli doctor", () => {
  liveEffect("finds a running service well, and names what is wrong with another", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const good = `http://127.0.0.1:${(yield* node(84532, 2)).port}`
      const service = yield* spawnService({ DATA_DIR: dataDir, BASE_SEPOLIA_RPC_URLS: good })
      yield* untilReady(service)
      const env = { DATA_DIR: dataDir, BASE_URL: service.baseUrl }
      const well = yield* spawnProgram(["src/cli/main.ts", "doctor", "--json"], {
        ...env,
        BASE_SEPOLIA_RPC_URLS: good,
        HOST: "127.0.0.1"
      })
      expect([yield* well.exited, well.output()]).toEqual([0, expect.anything()])
      expect(findings(well.output())).toEqual([
        "configuration ok",
        "database ok",
        "node 127.0.0.1 ok",
        "address ok"
      ])

      const wrongChain = `http://127.0.0.1:${(yield* node(1, 2)).port}`
      const old = `http://127.0.0.1:${(yield* node(84532, 900)).port}`
      const dead = yield* freePort(0)
      const ill = yield* spawnProgram(["src/cli/main.ts", "doctor", "--json"], {
        DATA_DIR: dataDir,
        HOST: "127.0.0.1",
        BASE_URL: `http://127.0.0.1:${dead}`,
        DATABASE_URL: `postgres://quittance@127.0.0.1:${dead}/quittance`,
        BASE_SEPOLIA_RPC_URLS: `${wrongChain},${old},http://127.0.0.1:${dead}`,
        FAUCET_PRIVATE_KEY: `0x${"01".repeat(32)}`,
        TESTNET_CONFIRMATION: "1"
      })
      expect(yield* ill.exited).toBe(1)
      expect(findings(ill.output())).toEqual([
        "configuration ok",
        "configuration warning",
        "database failure",
        "node 127.0.0.1 failure",
        "node 127.0.0.1 warning",
        "node 127.0.0.1 failure",
        "faucet warning",
        "address failure"
      ])
      for (const told of ["TESTNET_CONFIRMATIONS meant", "serves chain 1", "900 s old", "Check DATABASE_URL"])
        expect(ill.output()).toContain(told)
    })
  )
})
