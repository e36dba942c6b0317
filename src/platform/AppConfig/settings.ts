// The environment variables: the format of each, its description in words, and its default.
import { validateMnemonic } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english"
import { Config, Duration, Effect, Option, Schema } from "effect"
import { Address } from "../../domain/Chain.ts"
import { type Network, networks } from "../../domain/networks.ts"
import { ConfigRefusal, wrongSetting } from "./ConfigRefusal.ts"
import * as codecs from "./codecs.ts"
import { defaultConnections, maxProcesses, minConnections } from "./processCount.ts"

/** The names of all settings below, and of variables that are meant for other programs. */
export const variables = new Set(["OTEL_RESOURCE_ATTRIBUTES", "POSTGRES_PASSWORD"])

/** A variable that may be missing. */
const optional = <T>(variable: string, codec: Schema.ConstraintCodec<T, unknown>, mustBe: string) => {
  variables.add(variable)
  return Config.option(Config.schema(codec, variable)).pipe(
    Effect.mapError(() => ConfigRefusal.of([wrongSetting(variable, mustBe)]))
  )
}

const setting = <T>(
  variable: string,
  codec: Schema.ConstraintCodec<T, unknown>,
  mustBe: string,
  fallback: NoInfer<T>
) =>
  Effect.map(
    optional(variable, codec, mustBe),
    Option.getOrElse(() => fallback)
  )

export const baseUrlFormat = "the public origin of the service, without a path"
export const postgresFormat = "a Postgres address in production"
export const intentTokenFormat =
  "kid:secret pairs, comma-separated, newest first, each secret 32 characters or more"
export const encryptionFormat =
  "kid:key pairs, comma-separated, newest first, each key the base64 of 32 bytes"
const listenHostFormat = "an IP address or host name to listen on"
const nodesFormat = "comma-separated http(s) addresses of JSON-RPC nodes"
const nodesOf = ({ nodes }: Network) => setting(nodes.setting, codecs.httpUrls, nodesFormat, nodes.default)
const largestLimit = 1_000_000_000
const limitFormat = "an amount in whole USDC, from 0 to 1000000000"
const mnemonicSetting = ({ wallets }: Network, origin = "") =>
  optional(
    wallets.setting,
    Schema.String.check(Schema.makeFilter((text) => validateMnemonic(text, wordlist))),
    `a BIP-39 mnemonic of 12 to 24 English words${origin}`
  )
const weiFormat = "a whole number of wei, in digits"
/** At most about a thousand years, so that Postgres can store a time that long ago. */
const longDuration = codecs.duration(Duration.seconds(1), Duration.days(365_000))
const longDurationFormat = "a duration in d, h, m or s, from 1s to 365000d"

/** Coinbase Smart Wallet's factory, and Safe's proxy factory 1.4.1. */
const knownFactories = [
  Address.make("0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a"),
  Address.make("0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67")
]

/** Settings that are named in the networks' table. */
const perNetwork = <T>(
  codec: Schema.ConstraintCodec<T, unknown>,
  mustBe: string,
  all: ReadonlyArray<{ readonly setting: string; readonly default: NoInfer<T> }>
) =>
  Effect.validate(
    all.map((limit) =>
      Effect.map(
        setting(limit.setting, codec, mustBe, limit.default),
        (value) => [limit.setting, value] as const
      )
    ),
    (effect) => effect
  ).pipe(
    Effect.map((values): Readonly<Record<string, T>> => Object.fromEntries(values)),
    Effect.mapError((refused) => ConfigRefusal.of(refused.flatMap(({ settings }) => settings)))
  )

/** The limit of each level that has one. */
const settlementLimits = perNetwork(
  codecs.integer(0, largestLimit),
  limitFormat,
  Object.values(networks).flatMap(({ finalityLevels }) => finalityLevels.flatMap(({ limit }) => limit ?? []))
)

const relayWei = perNetwork(
  codecs.wei,
  weiFormat,
  Object.values(networks).flatMap((network) => Object.values(network.relayWei))
)

export const settings = {
  environment: setting(
    "ENVIRONMENT",
    Schema.Literals(["development", "production"]),
    "`development` or `production`",
    "development"
  ),
  port: setting("PORT", codecs.integer(1, 65535), "a port from 1 to 65535", 8787),
  host: setting("HOST", codecs.listenHost, listenHostFormat, "0.0.0.0"),
  workers: setting(
    "WORKERS",
    codecs.workers,
    `\`auto\`, or a number of processes from 1 to ${maxProcesses}`,
    1
  ),
  baseUrl: optional("BASE_URL", codecs.origin, baseUrlFormat),
  dataDir: setting("DATA_DIR", Schema.NonEmptyString, "a directory", ".data"),
  databaseUrl: optional("DATABASE_URL", codecs.postgresUrl, "a Postgres address"),
  connections: setting(
    "DATABASE_CONNECTIONS",
    codecs.integer(minConnections, 1000),
    `a number of connections from ${minConnections} to 1000`,
    defaultConnections
  ),
  replicaUrl: optional("DATABASE_REPLICA_URL", codecs.postgresUrl, "the address of a replica"),
  intentTokenSecrets: optional("INTENT_TOKEN_SECRETS", codecs.signingSecrets, intentTokenFormat),
  encryptionKeys: optional("ENCRYPTION_KEYS", codecs.encryptionKeys, encryptionFormat),
  testnetMnemonic: mnemonicSetting(networks.test, "; `bun run cli init` makes one"),
  mainnetMnemonic: mnemonicSetting(networks.live),
  webhookAllowedHosts: setting(
    "WEBHOOK_ALLOWED_HOSTS",
    codecs.list((all) => all.every((host) => /^[^\s/@:]+:\d{1,5}$/.test(host))),
    "comma-separated host:port",
    []
  ),
  testnetNodes: nodesOf(networks.test),
  mainnetNodes: nodesOf(networks.live),
  testnetConfirmations: setting(
    "TESTNET_CONFIRMATIONS",
    codecs.integer(0, 64),
    "a number of blocks from 0 to 64",
    networks.test.confirmations
  ),
  finalityDepth: optional(
    "FINALITY_DEPTH",
    codecs.integer(1, 100_000),
    "a number of blocks from 1 to 100000"
  ),
  mainnet: setting("MAINNET", Schema.Literals(["open", "closed"]), "`open` or `closed`", "closed"),
  settlementLimits,
  faucetKey: optional(
    "FAUCET_PRIVATE_KEY",
    codecs.privateKey,
    "a private key: 0x and 64 hex digits, within the curve's order"
  ),
  faucetUsdc: setting("FAUCET_USDC", codecs.integer(1, 1000), "whole USDC from 1 to 1000", 10),
  faucetGasWei: setting("FAUCET_GAS_WEI", codecs.wei, weiFormat, 200_000_000_000_000n),
  testWallet: setting("TEST_WALLET", Schema.Literals(["on", "off"]), "`on` or `off`", "off"),
  factories: setting(
    "X402_FACTORIES",
    codecs.addresses,
    "comma-separated addresses of contracts that deploy payers' wallets",
    knownFactories
  ),
  denyList: optional("DENY_LIST", Schema.NonEmptyString, "the path of a file of addresses, one per line"),
  relayWei,
  reserveWei: setting("RELAY_RESERVE_WEI", codecs.wei, weiFormat, 1_000_000_000_000_000n),
  walletConnectProjectId: optional(
    "WALLETCONNECT_PROJECT_ID",
    Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/)),
    "a WalletConnect project id, 32 hex digits"
  ),
  walletConnectRelayUrl: setting(
    "WALLETCONNECT_RELAY_URL",
    Schema.String.check(Schema.isPattern(/^wss?:\/\/[^\s/]+(\/\S*)?$/)),
    "a wss address",
    "wss://relay.walletconnect.org"
  ),
  onrampUrl: optional(
    "ONRAMP_URL",
    Schema.String.check(
      Schema.isMaxLength(2048),
      Schema.makeFilter((text) => URL.parse(text.replaceAll(/[{}]/g, ""))?.protocol === "https:")
    ),
    "an https address, with {address} and {amount} where they belong"
  ),
  trustedProxyHops: setting("TRUSTED_PROXY_HOPS", codecs.integer(0, 16), "a number from 0 to 16", 0),
  paymentExpiry: setting("PAYMENT_EXPIRY", longDuration, longDurationFormat, Duration.hours(24)),
  webhookAttemptRetention: setting(
    "WEBHOOK_ATTEMPT_RETENTION",
    longDuration,
    longDurationFormat,
    Duration.days(30)
  ),
  rateLimitPerKey: setting(
    "RATE_LIMIT_PER_KEY",
    codecs.integer(1, 1_000_000),
    "requests a second, from 1",
    100
  ),
  redisUrl: optional(
    "REDIS_URL",
    Schema.String.check(Schema.isPattern(/^rediss?:\/\/[^/?#]+(\/\d*)?(\?[^#]*)?$/)),
    "a Redis address, such as redis://127.0.0.1:6379/0"
  ),
  signUp: optional("SIGNUP", Schema.Literals(["open", "closed"]), "`open` or `closed`"),
  liveReceiverDelay: setting(
    "LIVE_RECEIVER_DELAY",
    codecs.duration(Duration.zero, Duration.infinity),
    "a duration in d, h, m or s, or 0s for none",
    Duration.hours(24)
  ),
  smtpUrl: optional(
    "SMTP_URL",
    Schema.String.check(Schema.isPattern(/^smtps?:\/\/.+/)),
    "a mail server's address, smtp:// or smtps://"
  ),
  mailFrom: optional(
    "MAIL_FROM",
    Schema.String.check(Schema.isPattern(/^[^\s@<>,;:"\p{Cc}]+@[^\s@<>,;:"\p{Cc}]+$/u)),
    "the email address that email is sent from"
  ),
  metricsPort: optional("METRICS_PORT", codecs.integer(1, 65535), "a port from 1 to 65535"),
  metricsHost: setting("METRICS_HOST", codecs.listenHost, listenHostFormat, "127.0.0.1"),
  otlpUrl: optional(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    codecs.httpUrl,
    "the http(s) address of an OTLP collector"
  ),
  otlpHeaders: setting("OTEL_EXPORTER_OTLP_HEADERS", codecs.headers, "comma-separated name=value", []),
  shutdownDelay: optional(
    "SHUTDOWN_DELAY",
    codecs.duration(Duration.zero, Duration.seconds(5)),
    "a duration of at most 5s"
  )
}
