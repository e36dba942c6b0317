// The environment variables, read once: each is decoded here and nowhere else. A refusal has one line per setting,
// with the variable's name and what it must be, never its value.
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Context, Duration, Effect, Layer, Option, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Address, Env } from "../domain/Chain.ts"
import type { SettlementLevels } from "../domain/Finality.ts"
import {
  byEnv,
  envs,
  type Network,
  networks,
  type RelayBound,
  relayWeiOf,
  settlementLevelsOf
} from "../domain/networks.ts"
import { ConfigRefusal, type RefusedSetting, wrongSetting } from "./AppConfig/ConfigRefusal.ts"
import { headersOf, type KeyedSecret, toKeyedSecrets } from "./AppConfig/codecs.ts"
import { developmentMnemonic, developmentSecrets } from "./AppConfig/developmentSecrets.ts"
import { misspeltVariables } from "./AppConfig/misspeltVariables.ts"
import { type ProcessSlot, processSlotIn, whySingleProcess, whyTooMany } from "./AppConfig/processCount.ts"
import {
  baseUrlFormat,
  encryptionFormat,
  intentTokenFormat,
  postgresFormat,
  settings,
  variables
} from "./AppConfig/settings.ts"
import { sharedMnemonics } from "./AppConfig/sharedMnemonics.ts"
import { judgeParameters, parameterRules, unreadSslMode } from "./AppConfig/urlParameters.ts"
import { withSecretFiles } from "./AppConfig/withSecretFiles.ts"
import { whyNotEmbedded, whyNotWithin } from "./database/foreignCluster.ts"
import { isLoopback } from "./http/isLoopback.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads each variable separately, so all malformed variables are refused together with the other refusals. */
const readSettings = Effect.fnUntraced(function* (refused: ReadonlyArray<RefusedSetting>) {
  const results: ReadonlyArray<Result.Result<unknown, ConfigRefusal>> = Object.values(
    yield* Effect.all(settings, { mode: "result" })
  )
  const malformed = results.flatMap((result) => (Result.isFailure(result) ? result.failure.settings : []))
  if (refused.length + malformed.length > 0) return yield* ConfigRefusal.of([...refused, ...malformed])
  return yield* Effect.all(settings)
})
type Settings = Effect.Success<ReturnType<typeof readSettings>>

const machine = { cores: availableParallelism(), platform: process.platform }

const rpcUrlsOf = ({
  mainnetNodes,
  testnetNodes
}: Settings): { readonly [E in Env]: ReadonlyArray<string> } => ({
  test: testnetNodes,
  live: mainnetNodes
})

/** The networks that the operator has opened, in addition to those that need no opening. */
const openedBy = ({ mainnet }: Settings): ReadonlyArray<Env> => {
  const opens: { readonly [Setting in Network["execution"]]: boolean } = {
    open: false,
    MAINNET: mainnet === "open"
  }
  return envs.filter((env) => opens[networks[env].execution])
}

/** The other settings that an opened network needs. A rehearsal on this machine needs none of them. */
const whyNotOpen = (settings: Settings, env: Env): ReadonlyArray<RefusedSetting> => {
  const { baseUrl, port } = settings
  const { execution, name, nodes } = networks[env]
  const refused: Array<RefusedSetting> = []
  const origin = new URL(Option.getOrElse(baseUrl, () => `http://localhost:${port}`))
  if (origin.protocol !== "https:" && !isLoopback(origin.hostname))
    refused.push({
      variable: "BASE_URL",
      message: `BASE_URL must be https with ${execution}=open: buyers pay real money there`
    })
  // However a URL is spelt, its host shows whose node it is.
  const nameOf = (url: string) => new URL(url).hostname.replace(/\.$/, "")
  const isPublic = (url: string) => nodes.default.some((node) => nameOf(node) === nameOf(url))
  const own = new Set(
    rpcUrlsOf(settings)
      [env].filter((url) => !isPublic(url))
      .map((url) => `${nameOf(url)}:${new URL(url).port}`)
  )
  if (own.size < 2)
    refused.push({
      variable: nodes.setting,
      message: `${nodes.setting} must name at least two nodes of ${name}, of different providers, with ${execution}=open, in addition to the public node: a single node could report payments that nobody made`
    })
  return refused
}

/** Refuses a level's limit that exceeds the limit of the next, stricter level. */
const descendingLimits = ({ settlementLimits }: Settings): ReadonlyArray<RefusedSetting> =>
  Object.values(networks).flatMap(({ finalityLevels }) => {
    const names = finalityLevels.flatMap(({ limit }) => limit?.setting ?? [])
    return names.flatMap((name, index) => {
      const next = names[index + 1]
      return next === undefined || (settlementLimits[name] ?? 0) <= (settlementLimits[next] ?? 0)
        ? []
        : [wrongSetting(name, `at most ${next}`)]
    })
  })

/** An instance's connections to the replica. */
const replicaConnections = 8

/** Contradictions between settings. */
const contradictions = (settings: Settings, env: Environment): ReadonlyArray<RefusedSetting> => {
  const { databaseUrl, dataDir, encryptionKeys, intentTokenSecrets, replicaUrl, webhookAllowedHosts } =
    settings
  const refused: Array<RefusedSetting> = []
  if (settings.environment === "production") {
    if (Option.isNone(settings.baseUrl)) refused.push(wrongSetting("BASE_URL", baseUrlFormat))
    if (Option.isNone(databaseUrl)) refused.push(wrongSetting("DATABASE_URL", postgresFormat))
    if (Option.isNone(intentTokenSecrets))
      refused.push(wrongSetting("INTENT_TOKEN_SECRETS", intentTokenFormat))
    if (Option.isNone(encryptionKeys)) refused.push(wrongSetting("ENCRYPTION_KEYS", encryptionFormat))
    if (webhookAllowedHosts.length > 0)
      refused.push({
        variable: "WEBHOOK_ALLOWED_HOSTS",
        message: "WEBHOOK_ALLOWED_HOSTS must be unset in production: it lets webhooks reach private addresses"
      })
    if (settings.testWallet === "on")
      refused.push({
        variable: "TEST_WALLET",
        message: "TEST_WALLET must be unset in production: it is for local chains"
      })
  }
  if (Option.isSome(replicaUrl) && Option.isNone(databaseUrl))
    refused.push({
      variable: "DATABASE_REPLICA_URL",
      message: "DATABASE_REPLICA_URL needs DATABASE_URL: the embedded database has no replica"
    })
  refused.push(...openedBy(settings).flatMap((env) => whyNotOpen(settings, env)))
  refused.push(...descendingLimits(settings))
  for (const [variable, url, rules] of [
    ["DATABASE_URL", databaseUrl, parameterRules.postgres],
    ["DATABASE_REPLICA_URL", replicaUrl, parameterRules.postgres],
    ["REDIS_URL", settings.redisUrl, parameterRules.redis],
    ["SMTP_URL", settings.smtpUrl, parameterRules.mail]
  ] as const) {
    if (Option.isNone(url)) continue
    const judged = judgeParameters(variable, url.value, rules)
    const unread = rules === parameterRules.postgres && unreadSslMode(variable, url.value, env["PGSSLMODE"])
    const messages = unread ? [...judged.refused, unread] : judged.refused
    refused.push(...messages.map((message) => ({ variable, message })))
  }
  refused.push(...sharedMnemonics({ test: settings.testnetMnemonic, live: settings.mainnetMnemonic }))
  const { connections, workers } = settings
  const singleProcessReason = workers === "auto" || workers === 1 ? undefined : whySingleProcess(machine)
  if (singleProcessReason !== undefined) refused.push({ variable: "WORKERS", message: singleProcessReason })
  const tooMany = whyTooMany(workers, connections)
  if (tooMany !== undefined) refused.push({ variable: "DATABASE_CONNECTIONS", message: tooMany })
  const whyNot = Option.isNone(databaseUrl) ? whyNotEmbedded(embeddedIn(dataDir)) : whyNotWithin(dataDir)
  if (whyNot !== undefined) refused.push({ variable: "DATA_DIR", message: whyNot })
  return refused
}

/** A chain is local if its nodes are on this machine, or beside it (a name without a dot, as in compose). */
const explorerUrlOf = (env: Env, nodes: ReadonlyArray<string>): string | null =>
  nodes.every((node) => {
    const { hostname } = new URL(node)
    return isLoopback(hostname) || /^[\w-]+$/.test(hostname)
  })
    ? null
    : networks[env].explorerUrl

const embeddedIn = (dataDir: string) => join(dataDir, "postgres")

/**
 * Decodes the environment.
 * @throws ConfigRefusal (in the error channel), with every setting that is malformed or, in production, missing.
 */
export const loadAppConfig = Effect.fnUntraced(function* (
  env: Environment
): Effect.fn.Return<typeof AppConfig.Service, ConfigRefusal, SecureRandom.SecureRandom> {
  const { refused, set } = withSecretFiles(env)
  const settings = yield* readSettings(refused).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: set }))
  )
  // Checked before anything is generated in DATA_DIR.
  const stops = contradictions(settings, env)
  if (stops.length > 0) return yield* ConfigRefusal.of(stops)

  const { dataDir, environment, intentTokenSecrets, encryptionKeys, testnetMnemonic, port } = settings
  const production = environment === "production"
  const generated =
    Option.isSome(intentTokenSecrets) && Option.isSome(encryptionKeys)
      ? undefined
      : yield* developmentSecrets(dataDir)
  const mnemonics = {
    test:
      Option.isSome(testnetMnemonic) || production
        ? testnetMnemonic
        : Option.some(yield* developmentMnemonic(dataDir)),
    live: settings.mainnetMnemonic
  }
  // The operator may have copied the generated mnemonic into the live setting.
  const [shared] = sharedMnemonics(mnemonics)
  if (shared !== undefined) return yield* ConfigRefusal.of([shared])
  const processSlot = Option.fromUndefinedOr(processSlotIn(env))
  /** One process's share of an instance's connections. */
  const shareOf = (connections: number) =>
    Option.match(processSlot, {
      onNone: () => connections,
      onSome: ({ of }) => Math.max(1, Math.floor(connections / of))
    })
  const baseUrl = Option.getOrElse(settings.baseUrl, () => `http://localhost:${port}`)
  const rpcUrls = rpcUrlsOf(settings)
  const mailFrom = Option.getOrElse(settings.mailFrom, () => `quittance@${new URL(baseUrl).hostname}`)

  return {
    port,
    host: settings.host,
    baseUrl,
    environment,
    processSlot,
    connections: { database: shareOf(settings.connections), replica: shareOf(replicaConnections) },
    database: Option.match(settings.databaseUrl, {
      onSome: (url) => ({ _tag: "Postgres", url: Redacted.make(url) }) as const,
      onNone: () => ({ _tag: "Embedded", directory: embeddedIn(dataDir) }) as const
    }),
    replicaUrl: Option.map(settings.replicaUrl, Redacted.make),
    dataDir,
    rpcUrls,
    opened: openedBy(settings),
    explorerUrls: byEnv((network) => explorerUrlOf(network, rpcUrls[network])),
    confirmations: { test: settings.testnetConfirmations, live: networks.live.confirmations },
    finalityDepth: Option.match(settings.finalityDepth, { onNone: () => ({}), onSome: (test) => ({ test }) }),
    settlementLevels: byEnv((network) =>
      settlementLevelsOf(networks[network], (name) => settings.settlementLimits[name])
    ),
    faucet: {
      privateKey: Option.map(settings.faucetKey, (key) => Redacted.make(key)),
      usdcAtomic: BigInt(settings.faucetUsdc) * 1_000_000n,
      gasWei: settings.faucetGasWei
    },
    relaying: {
      factories: settings.factories,
      wei: byEnv((network) => relayWeiOf(networks[network], (name) => settings.relayWei[name])),
      reserveWei: settings.reserveWei
    },
    testWallet: settings.testWallet === "on",
    denyList: settings.denyList,
    walletMnemonics: byEnv((network) => Option.map(mnemonics[network], (words) => Redacted.make(words))),
    intentTokenSecrets: toKeyedSecrets(
      Option.getOrElse(intentTokenSecrets, () => [generated?.intentTokenSecrets ?? ""])
    ),
    encryptionKeys: toKeyedSecrets(Option.getOrElse(encryptionKeys, () => [generated?.encryptionKeys ?? ""])),
    onrampUrl: settings.onrampUrl,
    walletConnect: Option.map(settings.walletConnectProjectId, (projectId) => ({
      projectId,
      relayUrl: settings.walletConnectRelayUrl
    })),
    trustedProxyHops: settings.trustedProxyHops,
    webhookAllowedHosts: settings.webhookAllowedHosts,
    paymentExpiry: settings.paymentExpiry,
    webhookAttemptRetention: settings.webhookAttemptRetention,
    rateLimitPerKey: settings.rateLimitPerKey,
    redisUrl: Option.map(settings.redisUrl, (url) => Redacted.make(url)),
    metrics: Option.map(settings.metricsPort, (port) => ({ host: settings.metricsHost, port: port })),
    otlp: Option.map(settings.otlpUrl, (url) => ({ url, headers: headersOf(settings.otlpHeaders) })),
    shutdownDelay: Option.getOrElse(settings.shutdownDelay, () => Duration.seconds(production ? 3 : 0)),
    signUp: Option.getOrElse(settings.signUp, () => (production ? "closed" : "open")),
    liveReceiverDelay: settings.liveReceiverDelay,
    smtp: Option.map(settings.smtpUrl, (url) => ({ url: Redacted.make(url), from: mailFrom }))
  }
})

export class AppConfig extends Context.Service<
  AppConfig,
  {
    readonly port: number
    readonly host: string
    /** Origin of the deployment, without a trailing slash. */
    readonly baseUrl: string
    readonly environment: "development" | "production"
    /** This process among the instance's processes; none if it is the only one. */
    readonly processSlot: Option.Option<ProcessSlot>
    /** This process's share of the connections that may be open at a time. */
    readonly connections: { readonly database: number; readonly replica: number }
    readonly database:
      | { readonly _tag: "Postgres"; readonly url: Redacted.Redacted<string> }
      | { readonly _tag: "Embedded"; readonly directory: string }
    /** A replica of the database, for lists and pages. */
    readonly replicaUrl: Option.Option<Redacted.Redacted<string>>
    readonly dataDir: string
    readonly rpcUrls: { readonly [E in Env]: ReadonlyArray<string> }
    /** The networks that the operator has opened, in addition to those that need no opening. */
    readonly opened: ReadonlyArray<Env>
    /** The explorers of transactions and addresses; null for a local chain. */
    readonly explorerUrls: { readonly [E in Env]: string | null }
    /** Blocks on top of the transfer's block before it counts, 0 to 64. */
    readonly confirmations: { readonly [E in Env]: number }
    /** Blocks after which a settled transfer is no longer watched; by default the network's own rule. */
    readonly finalityDepth: { readonly [E in Env]?: number }
    readonly settlementLevels: { readonly [E in Env]: SettlementLevels }
    readonly faucet: {
      readonly privateKey: Option.Option<Redacted.Redacted<string>>
      /** Atomic USDC a grant pays. */
      readonly usdcAtomic: bigint
      readonly gasWei: bigint
    }
    /** The budgets of the wallets that relay payments. */
    readonly relaying: {
      /** Contracts that may deploy a payer's wallet with its payment (ERC-6492). */
      readonly factories: ReadonlyArray<Address>
      /** The most wei in any 24 hours. */
      readonly wei: { readonly [E in Env]: { readonly [B in RelayBound]: bigint } }
      /** The balance reserved for merchants that have relayed little, in wei. */
      readonly reserveWei: bigint
    }
    /** True if pages offer a wallet that pays on local chains. */
    readonly testWallet: boolean
    /** The path of the file with the addresses on the operator's deny list. */
    readonly denyList: Option.Option<string>
    /** A network's relayer and agent wallets are derived from its mnemonic; without it, there are none. */
    readonly walletMnemonics: { readonly [E in Env]: Option.Option<Redacted.Redacted<string>> }
    readonly intentTokenSecrets: ReadonlyArray<KeyedSecret>
    /** Secrets are base64 of 32 bytes. */
    readonly encryptionKeys: ReadonlyArray<KeyedSecret>
    /** A page to buy USDC: a URL with the placeholders {address} and {amount}. */
    readonly onrampUrl: Option.Option<string>
    /** Lets buyers pay with a wallet that is connected through WalletConnect. */
    readonly walletConnect: Option.Option<{ readonly projectId: string; readonly relayUrl: string }>
    readonly trustedProxyHops: number
    /** Exact `host:port` that may be http and private; development only. */
    readonly webhookAllowedHosts: ReadonlyArray<string>
    readonly paymentExpiry: Duration.Duration
    /** The time for which webhook attempts and their responses are stored. Deliveries are never deleted. */
    readonly webhookAttemptRetention: Duration.Duration
    /** Sustained requests per second and key. */
    readonly rateLimitPerKey: number
    readonly redisUrl: Option.Option<Redacted.Redacted<string>>
    /** The separate listener for Prometheus. */
    readonly metrics: Option.Option<{ readonly host: string; readonly port: number }>
    /** OTLP over HTTP: the target of traces, metrics and logs. The headers may contain a key. */
    readonly otlp: Option.Option<{
      readonly url: string
      readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
    }>
    /** The time for which `/readyz` returns 503 before the listener closes, so that load balancers switch away. */
    readonly shutdownDelay: Duration.Duration
    /** `open` if anyone may sign up in the dashboard. */
    readonly signUp: "open" | "closed"
    /** The delay before a change of a live receiving address takes effect; until then it can be withdrawn. */
    readonly liveReceiverDelay: Duration.Duration
    /** The SMTP server for outgoing email; without it, none is sent. The URL may contain a password. */
    readonly smtp: Option.Option<{ readonly url: Redacted.Redacted<string>; readonly from: string }>
  }
>()("quittance/platform/AppConfig") {
  /** The refusal also lists misspelt variables, because one of them may be the missing setting. */
  static readonly layer = (env: Environment): Layer.Layer<AppConfig, ConfigRefusal> =>
    Layer.effect(
      AppConfig,
      Effect.mapError(
        loadAppConfig(env),
        ({ message, settings: refused }) =>
          new ConfigRefusal({
            settings: refused,
            message: [message, ...misspeltVariables(env, variables)].join("\n")
          })
      )
    ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
