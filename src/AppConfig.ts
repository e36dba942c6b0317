// The environment, read once. Every variable is decoded here and nowhere else;
// a refusal is one line that names the variable and what it wants, never its value.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { isIP } from "node:net"
import { join } from "node:path"
import { entropyToMnemonic, validateMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { Context, Duration, Effect, Layer, Option, Redacted, Schema, SchemaGetter } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { getAddress, isAddress } from "viem/utils"
import { ConfigRefusal } from "./ConfigRefusal.ts"
import { whyNotEmbedded, whyNotWithin } from "./database/foreignCluster.ts"
import { Address } from "./domain/Chain.ts"
import { withSecretFiles } from "./secretFiles.ts"

/** A secret with the id that tokens and ciphertexts name it by. Newest first in every list. */
export interface KeyedSecret {
  readonly kid: string
  readonly secret: Redacted.Redacted<string>
}

export interface AppConfigShape {
  readonly port: number
  readonly host: string
  /** Origin of the deployment, without a trailing slash. */
  readonly baseUrl: string
  readonly environment: "development" | "production"
  readonly database:
    | { readonly _tag: "Postgres"; readonly url: Redacted.Redacted<string> }
    | { readonly _tag: "Embedded"; readonly directory: string }
  /** A replica of the database, for lists and pages. */
  readonly replicaUrl: Option.Option<Redacted.Redacted<string>>
  readonly dataDir: string
  readonly rpcUrls: { readonly test: ReadonlyArray<string>; readonly live: ReadonlyArray<string> }
  /** Blocks on top of the transfer's block before it counts, 0 to 64. */
  readonly testnetConfirmations: number
  /** Blocks after which a settled transfer is no longer watched. */
  readonly finalityDepth: number
  readonly faucet: {
    readonly privateKey: Option.Option<Redacted.Redacted<string>>
    /** Atomic USDC a grant pays. */
    readonly usdcAtomic: bigint
    readonly gasWei: bigint
  }
  /** What the wallet that relays x402 payments does for whom. */
  readonly relaying: {
    /** Contracts that may deploy a payer's wallet with its payment (ERC-6492). */
    readonly factories: ReadonlyArray<Address>
    /** Gas in any 24 hours. */
    readonly gasPerMerchant: bigint
    readonly gasPerPayer: bigint
    /** What is kept for merchants that have relayed little, in wei. */
    readonly reserveWei: bigint
  }
  /** Agents' wallets are derived from it; without it there are no agents and no facilitator. */
  readonly agentWalletMnemonic: Option.Option<Redacted.Redacted<string>>
  readonly intentTokenSecrets: ReadonlyArray<KeyedSecret>
  /** Secrets are base64 of 32 bytes. */
  readonly encryptionKeys: ReadonlyArray<KeyedSecret>
  readonly trustedProxyHops: number
  /** Exact `host:port` that may be http and private; development only. */
  readonly webhookAllowedHosts: ReadonlyArray<string>
  readonly paymentExpiry: Duration.Duration
  /** How long webhook attempts and the answers kept with them stay; deliveries stay for good. */
  readonly webhookAttemptRetention: Duration.Duration
  /** Requests a second that one key may sustain. */
  readonly rateLimitPerKey: number
  readonly redisUrl: Option.Option<Redacted.Redacted<string>>
  /** Where Prometheus reads metrics: a listener of its own. */
  readonly metrics: Option.Option<{ readonly host: string; readonly port: number }>
  /** OTLP over HTTP: where traces, metrics and logs go. The headers may hold a key. */
  readonly otlp: Option.Option<{
    readonly url: string
    readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
  }>
  /** How long `/readyz` refuses before the listener closes, so that balancers look elsewhere. */
  readonly shutdownDelay: Duration.Duration
  /** Whether anybody may sign up in the dashboard. */
  readonly signUp: "open" | "closed"
  /** How long a change of a live receiving address waits, so that it can be withdrawn. */
  readonly liveReceiverDelay: Duration.Duration
  /** The server that mail goes out by; without one nobody is sent any. The address may hold a password. */
  readonly smtp: Option.Option<{ readonly url: Redacted.Redacted<string>; readonly from: string }>
}

export type Environment = Readonly<Record<string, string | undefined>>

const integer = (minimum: number, maximum: number) =>
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum, maximum }))

const list = Schema.String.pipe(
  Schema.decodeTo(Schema.Array(Schema.String), {
    decode: SchemaGetter.transform((text) =>
      text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
    ),
    encode: SchemaGetter.transform((parts) => parts.join(","))
  })
)

const isHttpUrl = (text: string) => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:")
}
const urls = list.check(Schema.makeFilter((all) => all.length > 0 && all.every(isHttpUrl)))
const origin = Schema.String.check(
  Schema.makeFilter((text) => isHttpUrl(text) && new URL(text).origin === text.replace(/\/$/, ""))
)
const duration = Schema.String.pipe(
  Schema.check(
    Schema.makeFilter((text) => {
      const parsed = parseDuration(text)
      return parsed !== undefined && Duration.toMillis(parsed) >= 1000
    })
  )
)

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const parseDuration = (text: string): Duration.Duration | undefined => {
  const match = /^(\d{1,6})\s*([smhd])$/.exec(text.trim())
  const unit = units[match?.[2] ?? ""]
  return match === null || unit === undefined ? undefined : Duration.millis(Number(match[1]) * unit)
}

/** Order of secp256k1: private keys are from 1 to one less (SEC 2, 2.4.1). */
const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const isPrivateKey = (text: string) => {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return false
  const key = BigInt(text)
  return key > 0n && key < curveOrder
}

/** Coinbase Smart Wallet's factory, and Safe's proxy factory 1.4.1. */
const knownFactories = [
  "0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a",
  "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67"
]
const addresses = list.check(
  Schema.makeFilter((all) => all.every((one) => isAddress(one, { strict: false })))
)

/** An IP address, or a name that does not look like a broken one. */
const isListenHost = (text: string) =>
  isIP(text) !== 0 || (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) && !/^[\d.]+$/.test(text))

const listenHost = Schema.String.check(Schema.makeFilter(isListenHost))
const listenHostWants = "an IP address or host name to listen on"

/** `name=value` pairs, values percent-encoded (OpenTelemetry, exporter configuration). */
const headersOf = (pairs: ReadonlyArray<string>) =>
  Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=")
      const value = pair.slice(equals + 1)
      return [
        pair.slice(0, equals).toLowerCase(),
        Redacted.make(Option.getOrElse(decodeComponent(value), () => value))
      ]
    })
  )
const decodeComponent = Option.liftThrowable(decodeURIComponent)

const keyedSecrets = (bytes: number | undefined) =>
  list.check(
    Schema.makeFilter(
      (all) =>
        all.length > 0 &&
        all.every((one) => {
          const [kid = "", ...rest] = one.split(":")
          const secret = rest.join(":")
          if (!/^[A-Za-z0-9_-]{1,32}$/.test(kid)) return false
          if (bytes === undefined) return secret.length >= 32
          return Option.match(Option.getSuccess(Base64.decode(secret)), {
            onNone: () => false,
            onSome: (decoded) => decoded.length === bytes
          })
        }) &&
        new Set(all.map((one) => one.split(":")[0])).size === all.length
    )
  )

const toKeyedSecrets = (all: ReadonlyArray<string>): ReadonlyArray<KeyedSecret> =>
  all.map((one) => {
    const colon = one.indexOf(":")
    return { kid: one.slice(0, colon), secret: Redacted.make(one.slice(colon + 1)) }
  })

const SecretsFile = Schema.Struct({ intentTokenSecrets: Schema.String, encryptionKeys: Schema.String })
const WalletFile = Schema.Struct({ agentWalletMnemonic: Schema.String })

/** What `DATA_DIR/file` holds; `fresh` where it is new. Whoever writes first wins. */
const keptInDevelopment = Effect.fnUntraced(function* <T, E>(
  dataDir: string,
  file: string,
  form: Schema.Codec<T, E>,
  fresh: NoInfer<T>
) {
  const path = join(dataDir, file)
  const refusal = (cause: unknown) =>
    new ConfigRefusal({
      variable: "DATA_DIR",
      message: `DATA_DIR: cannot keep development secrets in ${path} (${cause instanceof Error ? cause.message : "unreadable"}). Make the directory writable or set INTENT_TOKEN_SECRETS, ENCRYPTION_KEYS and AGENT_WALLET_MNEMONIC.`
    })
  const text = yield* Effect.try({
    try: () => {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 })
      try {
        writeFileSync(path, JSON.stringify(fresh), { mode: 0o600, flag: "wx" })
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
        chmodSync(path, 0o600)
      }
      return readFileSync(path, "utf8")
    },
    catch: refusal
  })
  return yield* Schema.decodeEffect(Schema.fromJsonString(form))(text).pipe(
    Effect.mapError(() => refusal(new Error("the file is damaged; delete it to make new ones")))
  )
})

/** Development secrets, generated once into `DATA_DIR/secrets.json`. */
const developmentSecrets = Effect.fnUntraced(function* (dataDir: string) {
  const random = yield* SecureRandom.SecureRandom
  return yield* keptInDevelopment(dataDir, "secrets.json", SecretsFile, {
    intentTokenSecrets: `dev:${Base64.encode(yield* random.randomBytes(32))}`,
    encryptionKeys: `dev:${Base64.encode(yield* random.randomBytes(32))}`
  })
})

/** The development mnemonic, generated once into `DATA_DIR/agent-wallet.json`. */
const developmentMnemonic = Effect.fnUntraced(function* (dataDir: string) {
  const random = yield* SecureRandom.SecureRandom
  const { agentWalletMnemonic } = yield* keptInDevelopment(dataDir, "agent-wallet.json", WalletFile, {
    agentWalletMnemonic: entropyToMnemonic(yield* random.randomBytes(16), wordlist)
  })
  return agentWalletMnemonic
})

/**
 * Decodes the environment.
 *
 * @throws ConfigRefusal (in the error channel) on the first malformed or, in production, missing setting.
 */
export const loadAppConfig = Effect.fnUntraced(function* (
  given: Environment
): Effect.fn.Return<AppConfigShape, ConfigRefusal, SecureRandom.SecureRandom> {
  const env = yield* withSecretFiles(given)
  const refuse = (variable: string, wants: string) =>
    new ConfigRefusal({ variable, message: `${variable}: wants ${wants}` })

  const read = <T, E>(variable: string, codec: Schema.Codec<T, E>, wants: string) => {
    const raw = env[variable]?.trim()
    return raw === undefined || raw === ""
      ? Effect.succeed(Option.none<T>())
      : Schema.decodeUnknownEffect(codec)(raw).pipe(
          Effect.map(Option.some),
          Effect.mapError(() => refuse(variable, wants))
        )
  }
  const readOr = <T, E>(variable: string, codec: Schema.Codec<T, E>, wants: string, fallback: NoInfer<T>) =>
    Effect.map(read(variable, codec, wants), (value) => Option.getOrElse(value, () => fallback))

  const environment = yield* readOr(
    "ENVIRONMENT",
    Schema.Literals(["development", "production"]),
    "`development` or `production`",
    "development"
  )
  const production = environment === "production"
  const port = yield* readOr("PORT", integer(1, 65535), "a port from 1 to 65535", 8787)
  const host = yield* readOr("HOST", listenHost, listenHostWants, "0.0.0.0")
  const baseUrl = yield* readOr(
    "BASE_URL",
    origin,
    "the public origin of the service, such as https://pay.example.com, without a path",
    `http://localhost:${port}`
  )
  const dataDir = yield* readOr("DATA_DIR", Schema.NonEmptyString, "a directory", ".data")

  const databaseUrl = yield* read(
    "DATABASE_URL",
    Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/.+/)),
    "a Postgres address, postgres://user:password@host:port/database"
  )
  if (production && Option.isNone(databaseUrl)) {
    return yield* refuse(
      "DATABASE_URL",
      "a Postgres address in production, postgres://user:password@host:port/database"
    )
  }

  const embeddedDirectory = join(dataDir, "postgres")
  // Before anything is generated into it.
  const whyNot = yield* Effect.sync(() =>
    Option.isNone(databaseUrl) ? whyNotEmbedded(embeddedDirectory) : whyNotWithin(dataDir)
  )
  if (whyNot !== undefined) return yield* new ConfigRefusal({ variable: "DATA_DIR", message: whyNot })

  const replicaUrl = yield* read(
    "DATABASE_REPLICA_URL",
    Schema.String.check(Schema.isPattern(/^postgres(ql)?:\/\/.+/)),
    "the address of a replica, postgres://user:password@host:port/database"
  )
  if (Option.isSome(replicaUrl) && Option.isNone(databaseUrl))
    return yield* refuse(
      "DATABASE_REPLICA_URL",
      "DATABASE_URL beside it: the embedded database has no replica"
    )

  const intentTokenWants =
    "kid:secret pairs, comma-separated, newest first, each secret 32 characters or more"
  const encryptionWants = "kid:key pairs, comma-separated, newest first, each key the base64 of 32 bytes"
  const intentTokens = yield* read("INTENT_TOKEN_SECRETS", keyedSecrets(undefined), intentTokenWants)
  const encryption = yield* read("ENCRYPTION_KEYS", keyedSecrets(32), encryptionWants)
  if (production && Option.isNone(intentTokens))
    return yield* refuse("INTENT_TOKEN_SECRETS", intentTokenWants)
  if (production && Option.isNone(encryption)) return yield* refuse("ENCRYPTION_KEYS", encryptionWants)
  const mnemonic = yield* read(
    "AGENT_WALLET_MNEMONIC",
    Schema.String.check(Schema.makeFilter((text) => validateMnemonic(text, wordlist))),
    "a BIP-39 mnemonic of 12 to 24 English words"
  )
  const generated =
    Option.isSome(intentTokens) && Option.isSome(encryption) ? undefined : yield* developmentSecrets(dataDir)
  const words =
    Option.isSome(mnemonic) || production ? mnemonic : Option.some(yield* developmentMnemonic(dataDir))

  const webhookAllowedHosts = yield* readOr(
    "WEBHOOK_ALLOWED_HOSTS",
    list.check(Schema.makeFilter((all) => all.every((one) => /^[^\s/@:]+:\d{1,5}$/.test(one)))),
    "comma-separated host:port",
    []
  )
  if (production && webhookAllowedHosts.length > 0) {
    return yield* refuse(
      "WEBHOOK_ALLOWED_HOSTS",
      "to be unset in production: it lets webhooks reach private addresses"
    )
  }

  const faucetKey = yield* read(
    "FAUCET_PRIVATE_KEY",
    Schema.String.check(Schema.makeFilter(isPrivateKey)),
    "a private key: 0x and 64 hex digits, within the curve's order"
  )
  const faucetUsdc = yield* readOr("FAUCET_USDC", integer(1, 1000), "whole USDC from 1 to 1000", 10)
  const gasWei = yield* readOr(
    "FAUCET_GAS_WEI",
    Schema.String.check(Schema.isPattern(/^\d{1,20}$/)),
    "an amount in wei",
    "200000000000000"
  )
  const confirmations = yield* readOr(
    "TESTNET_CONFIRMATIONS",
    integer(0, 64),
    "a number of blocks from 0 to 64",
    1
  )
  const finalityDepth = yield* readOr(
    "FINALITY_DEPTH",
    integer(1, 100_000),
    "a number of blocks from 1 to 100000",
    64
  )
  const factories = yield* readOr(
    "X402_FACTORIES",
    addresses,
    "comma-separated addresses of contracts that deploy payers' wallets",
    knownFactories
  )
  const gasPerMerchant = yield* readOr(
    "RELAY_GAS_PER_MERCHANT",
    integer(1, Number.MAX_SAFE_INTEGER),
    "an amount of gas a day",
    300_000_000
  )
  const gasPerPayer = yield* readOr(
    "RELAY_GAS_PER_PAYER",
    integer(1, Number.MAX_SAFE_INTEGER),
    "an amount of gas a day",
    100_000_000
  )
  const reserveWei = yield* readOr(
    "RELAY_RESERVE_WEI",
    Schema.String.check(Schema.isPattern(/^\d{1,20}$/)),
    "an amount in wei",
    "1000000000000000"
  )
  const hops = yield* readOr("TRUSTED_PROXY_HOPS", integer(0, 16), "a number from 0 to 16", 0)
  const expiry = yield* readOr("PAYMENT_EXPIRY", duration, "a duration such as 24h, 90m or 30s", "24h")
  const retention = yield* readOr(
    "WEBHOOK_ATTEMPT_RETENTION",
    duration,
    "a duration such as 30d or 12h",
    "30d"
  )
  const rateLimit = yield* readOr(
    "RATE_LIMIT_PER_KEY",
    integer(1, 1_000_000),
    "requests a second, from 1",
    100
  )
  const redisUrl = yield* read(
    "REDIS_URL",
    Schema.String.check(Schema.isPattern(/^rediss?:\/\/.+/)),
    "a Redis address, redis://host:port"
  )

  const signUp = yield* readOr(
    "SIGNUP",
    Schema.Literals(["open", "closed"]),
    "`open` or `closed`",
    production ? "closed" : "open"
  )

  const receiverDelay = yield* readOr(
    "LIVE_RECEIVER_DELAY",
    Schema.String.check(Schema.makeFilter((text) => parseDuration(text) !== undefined)),
    "a duration such as 24h, or 0s for none",
    "24h"
  )
  const smtpUrl = yield* read(
    "SMTP_URL",
    Schema.String.check(Schema.isPattern(/^smtps?:\/\/.+/)),
    "a mail server's address, smtp://user:password@host:port or smtps://…"
  )
  const mailFrom = yield* readOr(
    "MAIL_FROM",
    Schema.String.check(Schema.isPattern(/^[^\s@<>,;:"\p{Cc}]+@[^\s@<>,;:"\p{Cc}]+$/u)),
    "the e-mail address that mail is sent from",
    `quittance@${new URL(baseUrl).hostname}`
  )

  const metricsPort = yield* read("METRICS_PORT", integer(1, 65535), "a port from 1 to 65535")
  const metricsHost = yield* readOr("METRICS_HOST", listenHost, listenHostWants, "127.0.0.1")
  const otlpUrl = yield* read(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    Schema.String.check(Schema.makeFilter(isHttpUrl)),
    "the http(s) address of an OTLP collector, such as http://localhost:4318"
  )
  const otlpHeaders = yield* readOr(
    "OTEL_EXPORTER_OTLP_HEADERS",
    list.check(Schema.makeFilter((all) => all.every((one) => /^[A-Za-z0-9-]+=./.test(one)))),
    "comma-separated name=value",
    []
  )
  const shutdownDelay = yield* readOr(
    "SHUTDOWN_DELAY",
    Schema.String.check(
      Schema.makeFilter((text) => {
        const parsed = parseDuration(text)
        return parsed !== undefined && Duration.toMillis(parsed) <= 5_000
      })
    ),
    "a duration of at most 5s",
    production ? "3s" : "0s"
  )

  const rpc = "comma-separated http(s) addresses of JSON-RPC nodes"
  return {
    port,
    host,
    baseUrl: baseUrl.replace(/\/$/, ""),
    environment,
    database: Option.match(databaseUrl, {
      onSome: (url) => ({ _tag: "Postgres", url: Redacted.make(url) }) as const,
      onNone: () => ({ _tag: "Embedded", directory: embeddedDirectory }) as const
    }),
    replicaUrl: Option.map(replicaUrl, Redacted.make),
    dataDir,
    rpcUrls: {
      test: yield* readOr("BASE_SEPOLIA_RPC_URLS", urls, rpc, ["https://sepolia.base.org"]),
      live: yield* readOr("ARBITRUM_RPC_URLS", urls, rpc, ["https://arb1.arbitrum.io/rpc"])
    },
    testnetConfirmations: confirmations,
    finalityDepth,
    faucet: {
      privateKey: Option.map(faucetKey, (key) => Redacted.make(key)),
      usdcAtomic: BigInt(faucetUsdc) * 1_000_000n,
      gasWei: BigInt(gasWei)
    },
    relaying: {
      factories: factories.map((one) => Address.make(getAddress(one))),
      gasPerMerchant: BigInt(gasPerMerchant),
      gasPerPayer: BigInt(gasPerPayer),
      reserveWei: BigInt(reserveWei)
    },
    agentWalletMnemonic: Option.map(words, (text) => Redacted.make(text)),
    intentTokenSecrets: toKeyedSecrets(
      Option.getOrElse(intentTokens, () => [generated?.intentTokenSecrets ?? ""])
    ),
    encryptionKeys: toKeyedSecrets(Option.getOrElse(encryption, () => [generated?.encryptionKeys ?? ""])),
    trustedProxyHops: hops,
    webhookAllowedHosts,
    paymentExpiry: parseDuration(expiry) ?? Duration.hours(24),
    webhookAttemptRetention: parseDuration(retention) ?? Duration.days(30),
    rateLimitPerKey: rateLimit,
    redisUrl: Option.map(redisUrl, (url) => Redacted.make(url)),
    metrics: Option.map(metricsPort, (one) => ({ host: metricsHost, port: one })),
    otlp: Option.map(otlpUrl, (url) => ({ url, headers: headersOf(otlpHeaders) })),
    shutdownDelay: parseDuration(shutdownDelay) ?? Duration.zero,
    signUp,
    liveReceiverDelay: parseDuration(receiverDelay) ?? Duration.hours(24),
    smtp: Option.map(smtpUrl, (url) => ({ url: Redacted.make(url), from: mailFrom }))
  }
})

export class AppConfig extends Context.Service<AppConfig, AppConfigShape>()("quittance/AppConfig") {
  static readonly layer = (env: Environment): Layer.Layer<AppConfig, ConfigRefusal> =>
    Layer.effect(AppConfig, loadAppConfig(env)).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
