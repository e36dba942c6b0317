// The settings that MAINNET=open requires.
import { expect, test } from "bun:test"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { finalityFor } from "../../../src/domain/Finality.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { loadAppConfig } from "../../../src/platform/AppConfig.ts"

const nodes = "https://one.example.com/key,https://two.example.com/key"
const loaded = (environment: Readonly<Record<string, string>>) =>
  Effect.runPromise(
    loadAppConfig({
      INTENT_TOKEN_SECRETS: `a:${"s".repeat(32)}`,
      ENCRYPTION_KEYS: `a:${btoa("k".repeat(32))}`,
      ...environment
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto), Effect.result)
  )
const refusals = async (environment: Readonly<Record<string, string>>) =>
  Result.match(await loaded({ MAINNET: "open", ...environment }), {
    onSuccess: () => [],
    onFailure: ({ settings }) => settings.map(({ message }) => message)
  })

test("an https origin and two own nodes open it", async () => {
  const config = Result.getOrThrow(
    await loaded({ MAINNET: "open", BASE_URL: "https://pay.example.com", ARBITRUM_RPC_URLS: nodes })
  )
  expect(config.opened).toEqual(["live"])
})

test("closed needs neither, and is the default", async () => {
  expect(Result.getOrThrow(await loaded({})).opened).toEqual([])
  expect(Result.getOrThrow(await loaded({ MAINNET: "closed" })).opened).toEqual([])
})

test("without them the start is refused, with everything at once, in sentences that say what to do", async () => {
  const said = await refusals({ BASE_URL: "http://pay.example.com" })
  expect(said).toHaveLength(2)
  expect(said[0]).toStartWith("BASE_URL must be https")
  expect(said[1]).toStartWith("ARBITRUM_RPC_URLS must name at least two nodes of Arbitrum One")
  // The public endpoint does not count as one's own, and one provider counts once, however it is spelt.
  const own = "https://one.example.com/KEY"
  for (const other of [
    ...[
      "https://arb1.arbitrum.io/rpc",
      "https://arb1.arbitrum.io/rpc/",
      "https://arb1.arbitrum.io:443/rpc?x=1"
    ],
    ...["http://arb1.arbitrum.io/rpc", "https://ARB1.arbitrum.io./rpc", "https://x@arb1.arbitrum.io/rpc"],
    ...[`${own}/`, `${own}?a=1`, `${own}#a`, "https://one.example.com/OTHER"]
  ])
    expect({
      other,
      refused: await refusals({ BASE_URL: "https://pay.example.com", ARBITRUM_RPC_URLS: `${own},${other}` })
    }).toEqual({ other, refused: [expect.stringContaining("must name at least two nodes")] })
})

test("a rehearsal on this machine needs no certificate", async () => {
  const local = "http://127.0.0.1:8546,http://localhost:8546"
  expect(await refusals({ BASE_URL: "http://localhost:8787", ARBITRUM_RPC_URLS: local })).toEqual([])
})

test("limits are whole USDC, the fast one at most the safe one", async () => {
  const own = Result.getOrThrow(await loaded({ LIVE_FAST_LIMIT: "0", LIVE_SAFE_LIMIT: "5" }))
  const level = (usd: bigint) => finalityFor(AtomicUsdc.make(usd * 1_000_000n), own.settlementLevels.live)
  expect([level(1n), level(5n), level(6n)]).toEqual(["safe", "safe", "finalized"])
  const said = await loaded({ LIVE_FAST_LIMIT: "6", LIVE_SAFE_LIMIT: "5" })
  expect(Result.isFailure(said) && said.failure.message).toContain(
    "LIVE_FAST_LIMIT must be at most LIVE_SAFE_LIMIT"
  )
})
