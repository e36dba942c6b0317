// Secrets on a database that was used with others: another key under a known name stops the start, and nothing is
// signed from a mnemonic that agents' wallets do not come from.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { layerFittingSecrets } from "../../src/app/secrets/layerFittingSecrets.ts"
import { compareSecrets } from "../../src/app/secrets/secretMisfits.ts"
import { DerivedWallets } from "../../src/chain/wallets/DerivedWallets.ts"
import { AgentId } from "../../src/domain/Agent.ts"
import type { Env } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import type { AppConfig } from "../../src/platform/AppConfig.ts"
import { layerOpened } from "../../src/platform/Networks.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { AgentRepo } from "../../src/x402/agents/AgentRepo.ts"
import { Agents } from "../../src/x402/agents/Agents.ts"
import { testDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { liveEffect } from "../support/run.ts"
import { newShop, newTenant } from "../webhooks/deliveries.ts"

const key = (kid: string, fill: number) => ({
  kid,
  secret: Redacted.make(Buffer.alloc(32, fill).toString("base64"))
})
const sealing = (...encryptionKeys: ReadonlyArray<ReturnType<typeof key>>) => ({ encryptionKeys })
const signing = (...intentTokenSecrets: ReadonlyArray<ReturnType<typeof key>>) => ({ intentTokenSecrets })
const words = (test?: string, live?: string) => ({
  walletMnemonics: {
    test: Option.map(Option.fromUndefinedOr(test), Redacted.make),
    live: Option.map(Option.fromUndefinedOr(live), Redacted.make)
  }
})
const testWords = "test test test test test test test test test test test junk"
const liveWords = "legal winner thank year wave sausage worth useful legal winner thank yellow"
const thirdWords = "letter advice cage absurd amount doctor acoustic avoid letter advice cage above"
const earlier = words(testWords)
const other = words(liveWords)

type Overrides = Partial<typeof AppConfig.Service>
const configured = (overrides: Overrides) =>
  Layer.provideMerge(SecretBox.layer, testConfig(overrides)).pipe(Layer.provide(SecureRandom.layerWebCrypto))

/** Starts with these secrets; what the start refuses, or whether wallets of the environment are derived. */
const start = (overrides: Overrides, env: Env = "test") =>
  Effect.map(DerivedWallets, ({ relayerKey }) =>
    Option.isSome(relayerKey(env)) ? "signs" : "signs nothing"
  ).pipe(
    Effect.provide(
      Layer.fresh(
        DerivedWallets.layer.pipe(Layer.provide(layerFittingSecrets), Layer.provide(configured(overrides)))
      )
    ),
    Effect.catchTag("SecretRefusal", ({ message }) => Effect.succeed(message))
  )
const found = (overrides: Overrides) =>
  Effect.map(compareSecrets(true), ({ misfits }) =>
    misfits.map(({ level, variable }) => `${variable} ${level}`)
  ).pipe(Effect.provide(configured(overrides)))

const kept = Layer.mergeAll(KeyAuth.layer, WebhookRepo.layer, AgentRepo.layer).pipe(
  Layer.provideMerge(Layer.merge(testDatabase.layer, SecureRandom.layerWebCrypto))
)
const onDatabase = (name: string, work: Effect.Effect<void, unknown, Layer.Success<typeof kept>>) =>
  liveEffect(name, () => work.pipe(Effect.provide(kept), Effect.orDie))

const shopUnder = (overrides: Overrides) => newShop(new Date()).pipe(Effect.provide(configured(overrides)))

describe("Named keys", () => {
  for (const [variable, keys] of [
    ["ENCRYPTION_KEYS", sealing],
    ["INTENT_TOKEN_SECRETS", signing]
  ] as const) {
    onDatabase(
      `${variable}: another key under a known name stops the start`,
      Effect.gen(function* () {
        expect(yield* start(keys(key("one", 1)))).toBe("signs")
        const message = yield* start(keys(key("one", 2)))
        expect(message).toContain(`${variable}: \`one\` differs from the key`)
        expect(message).not.toContain(Buffer.alloc(32, 2).toString("base64"))
        // Also as an older one, which tokens and ciphertexts still name.
        expect(yield* start(keys(key("two", 3), key("one", 2)))).toContain("`one` differs from the key")
        expect(yield* found(keys(key("one", 2)))).toEqual([`${variable} refused`])
        expect(yield* start(keys(key("one", 1)))).toBe("signs")
      })
    )

    onDatabase(
      `${variable}: instances rotate one after the other`,
      Effect.gen(function* () {
        const [old, next] = [key("old", 1), key("next", 2)]
        for (const keyring of [[old], [old, next], [next, old], [old, next], [next, old], [next]])
          expect(yield* start(keys(...keyring))).toBe("signs")
        expect(yield* found(keys(next))).toEqual([])
      })
    )
  }

  onDatabase(
    "what a release without fingerprints sealed has to open",
    Effect.gen(function* () {
      yield* shopUnder(sealing(key("one", 1)))
      expect(yield* start(sealing(key("one", 2)))).toContain("it decrypts nothing stored under that name")
      expect(yield* start(sealing(key("one", 1)))).toBe("signs")
      expect(yield* start(sealing(key("one", 2)))).toContain("fingerprint")
    })
  )

  onDatabase(
    "a lost key is replaced by one of another name, and doctor lists what has to be set again",
    Effect.gen(function* () {
      yield* shopUnder(sealing(key("one", 1)))
      expect(yield* start(sealing(key("two", 2)))).toBe("signs")
      expect(yield* found(sealing(key("two", 2)))).toEqual(["ENCRYPTION_KEYS stopped"])
    })
  )

  onDatabase(
    "what two keys sealed under one name is counted",
    Effect.gen(function* () {
      yield* shopUnder(sealing(key("one", 1)))
      yield* shopUnder(sealing(key("one", 2)))
      expect(yield* start(sealing(key("one", 2)))).toBe("signs")
      expect(yield* found(sealing(key("one", 2)))).toEqual(["ENCRYPTION_KEYS stopped"])
    })
  )
})

describe("Wallets", () => {
  const agentOf = Effect.fnUntraced(function* (overrides: Overrides, env: Env = "test") {
    const { merchantId } = yield* newTenant
    const agents = Agents.layer.pipe(Layer.provide(AgentRepo.layer), Layer.provide(configured(overrides)))
    const provisioned = Effect.flatMap(Agents, ({ provision }) =>
      provision({
        merchantId,
        env,
        name: "Buyer",
        capPerPayment: AtomicUsdc.make(1n),
        capPerDay: AtomicUsdc.make(1n),
        allowedHosts: null,
        allowedPayees: null
      })
    )
    return (yield* provisioned.pipe(Effect.provide(agents))).agent
  })

  onDatabase(
    "another mnemonic signs nothing while agents depend on the earlier one",
    Effect.gen(function* () {
      const agent = yield* agentOf(earlier)
      expect(yield* start(earlier)).toBe("signs")
      expect(yield* start(other)).toBe("signs nothing")
      expect(yield* found(other)).toEqual(["AGENT_WALLET_MNEMONIC stopped"])
      expect(yield* found(words())).toEqual(["AGENT_WALLET_MNEMONIC stopped"])
      expect(yield* start(earlier)).toBe("signs")
      yield* (yield* AgentRepo).revoke(agent.merchantId, AgentId.make(agent.id), new Date())
      expect(yield* start(other)).toBe("signs")
    })
  )

  onDatabase(
    "each network's mnemonic is judged by its own agents, and stops its own network only",
    Effect.gen(function* () {
      const both = words(testWords, liveWords)
      const open = Effect.provide(layerOpened(["live"]))
      const agent = yield* agentOf(both, "live").pipe(open)
      yield* agentOf(both)
      const [swapped, without] = [words(testWords, thirdWords), words(testWords)]
      expect(yield* start(both, "live").pipe(open)).toBe("signs")
      for (const wrong of [swapped, without]) {
        expect(yield* start(wrong).pipe(open)).toBe("signs")
        expect(yield* start(wrong, "live").pipe(open)).toBe("signs nothing")
        expect(yield* found(wrong).pipe(open)).toEqual(["LIVE_WALLET_MNEMONIC stopped"])
      }
      expect(yield* found(both).pipe(open)).toEqual([])
      yield* (yield* AgentRepo).revoke(agent.merchantId, agent.id, new Date())
      expect(yield* start(swapped, "live").pipe(open)).toBe("signs")
    })
  )

  onDatabase(
    "an agent of a closed network has a wallet of the open one's mnemonic; once it opens, only that agent is off",
    Effect.gen(function* () {
      const agent = yield* agentOf(words(testWords), "live")
      expect(yield* found(words(testWords))).toEqual([])
      const both = words(testWords, liveWords)
      const open = Effect.provide(layerOpened(["live"]))
      expect(yield* start(both, "live").pipe(open)).toBe("signs")
      expect(yield* found(both).pipe(open)).toEqual(["LIVE_WALLET_MNEMONIC lost"])
      yield* (yield* AgentRepo).revoke(agent.merchantId, agent.id, new Date())
      expect(yield* found(both).pipe(open)).toEqual([])
    })
  )

  onDatabase(
    "a wallet whose transactions have not ended, and that no secret leads to, is said",
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      expect(yield* start(earlier)).toBe("signs")
      for (const [nonce, purpose] of [
        [0, "usdc"],
        [1, "gas"]
      ] as const)
        yield* sql`
        INSERT INTO wallet_transactions (wallet, nonce, purpose, reference, gas, versions, created_at, signed_at)
        VALUES (decode(repeat('ab', 20), 'hex'), ${nonce}, ${purpose}, gen_random_uuid(), 1, ARRAY['\\x00'::bytea], now(), now())`
      expect(yield* found(earlier)).toEqual(["FAUCET_PRIVATE_KEY lost"])
      expect(yield* start(earlier)).toBe("signs")
      yield* sql`UPDATE wallet_transactions SET outcome = 'moved', ended_at = now()`
      expect(yield* found(earlier)).toEqual([])
    })
  )
})
