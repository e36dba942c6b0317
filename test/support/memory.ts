// The in-memory layers that fast tests run on.
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { AppConfig, loadAppConfig } from "../../src/platform/AppConfig.ts"

const secret = Buffer.alloc(32, 7).toString("base64")

/** A configuration with fixed secrets, which a test may override. */
export const testConfig = (overrides: Partial<typeof AppConfig.Service> = {}): Layer.Layer<AppConfig> =>
  Layer.effect(
    AppConfig,
    Effect.map(
      loadAppConfig({
        BASE_URL: "http://localhost:8787",
        INTENT_TOKEN_SECRETS: `test:${secret}`,
        ENCRYPTION_KEYS: `test:${secret}`,
        AGENT_WALLET_MNEMONIC: "test test test test test test test test test test test junk",
        RATE_LIMIT_PER_KEY: "1000000"
      }),
      (config) => ({ ...config, ...overrides })
    )
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto), Layer.orDie)
