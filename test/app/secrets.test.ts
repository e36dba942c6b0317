// Secrets on a database that was used with other secrets: another key under a known name stops the start, and nothing
// is signed from a mnemonic that the agents' wallets do not come from.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { layerCheckedSecrets } from "../../src/app/secrets/layerCheckedSecrets.ts"
import { compareSecrets } from "../../src/app/secrets/secretMismatches.ts"
import { DerivedWallets } from "../../src/chain/wallets/DerivedWallets.ts"
import { AgentId } from "../../src/domain/Agent.ts"
import type { Env } from "../../src/domain/Chain.ts"
import { AtomicUsdc } from "../../src/domain/Money.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import type { AppConfig } from "../../src/platform/AppConfig.ts"
import { layerOpenNetworks } from "../../src/platform/Networks.ts"
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

/** Starts with these secrets; returns the refusal, or whether wallets of the environment are derived. */
const start = (overrides: Overrides, env: Env = "test") =>
  Effect.map(DerivedWallets, ({ relayerKey }) =>
    Option.isSome(relayerKey(env)) ? "signs" : "signs nothing"
  ).pipe(
    Effect.provide(
      Layer.fresh(
        DerivedWallets.layer.pipe(Layer.provide(layerCheckedSecrets), Layer.provide(configured(overrides)))
      )
    ),
    Effect.catchTag("SecretRefusal", ({ message }) => Effect.succeed(message))
  )
const found = (overrides: Overrides) =>
  Effect.map(compareSecrets(true), ({ mismatches }) =>
    mismatches.map(({ level, variable }) => `${variable} ${level}`)
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
        // Also if the changed key is an older one, which tokens and ciphertexts still name.
        expect(yield* start(keys(key("two", 3), key("one", 2)))).toContain("`one` differs from the key")
        expect(yield* found(keys(key("one", 2)))).toEqual([`${variable} refused`])
        expect(yield* start(keys(key("one", 1)))).toBe("signs")
      })
    )

    onDatabase(
      `${variable}: instances can rotate one after the other`,
      Effect.gen(function* () {
        const [old, next] = [key("old", 1), key("next", 2)]
        for (const keyring of [[old], [old, next], [next, old], [old, next], [next, old], [next]])
          expect(yield* start(keys(...keyring))).toBe("signs")
        expect(yield* found(keys(next))).toEqual([])
      })
    )
  }

  onDatabase(
    "a removed secret is reported while payments with its tokens are pending",
    Effect.gen(function* () {
      const [old, next] = [key("old", 1), key("next", 2)]
      const sql = yield* SqlClient.SqlClient
      expect(yield* start(signing(old))).toBe("signs")
      const { tenant } = yield* shopUnder(signing(old))
      yield* sql`
        INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
        VALUES (gen_random_uuid(), ${tenant.merchantId}, 'test', 'pending', 1000000, 'PAY-AAAAAAAA',
          'https://shop.example.com/1', decode(repeat('11', 20), 'hex'), 'human', now())`
      expect(yield* found(signing(next, old))).toEqual([])
      expect(yield* start(signing(next))).toBe("signs")
      expect(yield* found(signing(next))).toEqual(["INTENT_TOKEN_SECRETS lost"])
      expect(yield* found(signing(next, old))).toEqual([])
      yield* sql`UPDATE payments SET status = 'failed', failed_at = now(), failure_reason = 'expired'`
      expect(yield* found(signing(next))).toEqual([])
    })
  )

  onDatabase(
    "a secret stored before fingerprints existed must decrypt, or the start is refused",
    Effect.gen(function* () {
      yield* shopUnder(sealing(key("one", 1)))
      expect(yield* start(sealing(key("one", 2)))).toContain("it decrypts nothing stored under that name")
      expect(yield* start(sealing(key("one", 1)))).toBe("signs")
      expect(yield* start(sealing(key("one", 2)))).toContain("fingerprint")
    })
  )

  onDatabase(
    "a lost key can be replaced by one with another name; doctor reports the secrets to set again",
    Effect.gen(function* () {
      yield* shopUnder(sealing(key("one", 1)))
      expect(yield* start(sealing(key("two", 2)))).toBe("signs")
      expect(yield* found(sealing(key("two", 2)))).toEqual(["ENCRYPTION_KEYS stopped"])
    })
  )

  onDatabase(
    "doctor reports a database whose secrets two keys of one name encrypted",
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
    "with another mnemonic nothing is signed while agents depend on the earlier one",
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
    "each network's mnemonic is checked against its own agents, and stops only its own network",
    Effect.gen(function* () {
      const both = words(testWords, liveWords)
      const open = Effect.provide(layerOpenNetworks(["live"]))
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
    "an agent older than Mainnet's opening has a Testnet wallet; doctor then reports it as lost",
    Effect.gen(function* () {
      const agent = yield* agentOf(words(testWords), "live")
      expect(yield* found(words(testWords))).toEqual([])
      const both = words(testWords, liveWords)
      const open = Effect.provide(layerOpenNetworks(["live"]))
      expect(yield* start(both, "live").pipe(open)).toBe("signs")
      expect(yield* found(both).pipe(open)).toEqual(["LIVE_WALLET_MNEMONIC lost"])
      yield* (yield* AgentRepo).revoke(agent.merchantId, agent.id, new Date())
      expect(yield* found(both).pipe(open)).toEqual([])
    })
  )

  onDatabase(
    "a wallet with unfinished transactions whose key is in no secret is reported",
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
