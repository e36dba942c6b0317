// `doctor`: checks what a deployment depends on, and gives a remedy for each problem.

import { Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { toHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { readDenyList } from "../../chain/DenyList.ts"
import { domainSeparator, domainSeparatorCall } from "../../chain/domainSeparator.ts"
import { makeSingleNode, type SingleNode } from "../../chain/makeSingleNode.ts"
import type { NodeFailure } from "../../chain/RpcPool/NodeFailure.ts"
import { BlockHeader, Bytes, Head, Quantity } from "../../chain/RpcSchemas.ts"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import { Address, type Env } from "../../domain/Chain.ts"
import { blocksIn, envs, faucetNetwork, hasTags, networks } from "../../domain/networks.ts"
import { pluralised } from "../../domain/pluralised.ts"
import { misspeltVariables } from "../../platform/AppConfig/misspeltVariables.ts"
import { variables } from "../../platform/AppConfig/settings.ts"
import { startWarnings } from "../../platform/AppConfig/startWarnings.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { maxClockSkewSeconds } from "../../platform/database/DatabaseClock.ts"
import { causeOf } from "../../platform/database/migrate.ts"
import { RateLimiter } from "../../platform/limits/RateLimiter.ts"
import { mailTransport } from "../../platform/mail/mailTransport.ts"
import { layerOpenNetworks, Networks } from "../../platform/Networks.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { databaseFindings } from "./doctor/databaseFindings.ts"
import { type Finding, failure, ok, warning } from "./doctor/Finding.ts"
import { liveFindings } from "./doctor/liveFindings.ts"
import { walletFinding } from "./doctor/walletFinding.ts"
import { json, print } from "./flags.ts"

/** If the newest block is older than this, the chain or the node has stopped. */
const staleSeconds = 120

const ageOf = (seconds: bigint) => Math.round(Date.now() / 1000) - Number(seconds)

/** A node's URL may contain a key, so only its host is shown. */
const hostAndPortOf = (url: string) => URL.parse(url)?.host ?? "?"

/** The reason why the node does not return the logs of a block; undefined if it does. */
const logsObstacle = Effect.fnUntraced(
  function* (env: Env, { call }: SingleNode, height: bigint) {
    const block = yield* call("eth_getBlockByNumber", [`0x${height.toString(16)}`, false], BlockHeader)
    if (block === null) return `it has no block ${height}`
    const { address } = networks[env].usdc
    yield* call("eth_getLogs", [{ address, blockHash: block.hash }], Schema.Array(Schema.Unknown))
    return undefined
  },
  Effect.catch(({ message, nodeMessage }) => Effect.succeed(nodeMessage ?? message))
)

/** Transfers are read from logs: those of new blocks and, after an outage, those of a day ago. */
const logsFinding = Effect.fnUntraced(function* (about: string, env: Env, node: SingleNode, head: bigint) {
  const refusal = yield* logsObstacle(env, node, head)
  if (refusal !== undefined)
    return failure(
      about,
      `The node does not return the logs of its newest block: ${refusal}. Payments that nobody reports do not settle. Use a node that returns logs.`
    )
  const day = blocksIn(env, 86_400_000)
  const past = yield* logsObstacle(env, node, head > day ? head - day : 0n)
  return past === undefined
    ? undefined
    : warning(
        about,
        `The node does not return the logs of a day ago: ${past}. Transfers that arrive while the service is down may be missed. Use a node that stores older logs.`
      )
})

const isReverted = ({ kind }: NodeFailure) => kind === "reverted"

const nodeFinding = (env: Env, url: string) =>
  Effect.gen(function* () {
    const about = `node ${hostAndPortOf(url)}`
    const { chainId, name, usdc } = networks[env]
    const node = makeSingleNode(env, url)
    const chain = yield* node.call("eth_chainId", [], Quantity)
    if (chain !== BigInt(chainId))
      return failure(
        about,
        `It serves chain ${chain}, not ${name} (${chainId}). Remove it from ${networks[env].nodes.setting}.`
      )
    if ((yield* node.call("eth_getCode", [usdc.address, "latest"], Bytes)) === "0x")
      return failure(about, `It has no USDC contract at ${usdc.address}. Use another node.`)
    const separator = yield* node
      .call("eth_call", [{ to: usdc.address, data: domainSeparatorCall }, "latest"], Bytes)
      .pipe(Effect.catchIf(isReverted, () => Effect.succeed("0x")))
    if (separator !== domainSeparator(networks[env]))
      return failure(
        about,
        `The contract at ${usdc.address} is not USDC: its EIP-712 domain differs. Use another node.`
      )
    const { number, timestamp } = yield* node.call("eth_getBlockByNumber", ["latest", false], Head)
    const age = ageOf(timestamp)
    if (age < -maxClockSkewSeconds)
      return failure(
        about,
        `Its newest block is ${-age} s in the future: the node is wrong, or this machine's clock is behind. Check this machine's NTP.`
      )
    if (age > staleSeconds)
      return warning(about, `Its newest block is ${age} s old: it lags, or this machine's clock is ahead.`)
    return (
      (yield* logsFinding(about, env, node, number)) ??
      ok(about, `${name} with its USDC, newest block ${age} s old`)
    )
  }).pipe(
    Effect.catch(({ kind, message, nodeMessage }) =>
      Effect.succeed(
        failure(
          `node ${hostAndPortOf(url)}`,
          kind === "transport"
            ? `The node does not respond (${message}). Check the URL, its key and the firewall.`
            : `${nodeMessage === undefined ? message : `The node returns an error: ${nodeMessage}`}. Check its key and its plan, or use another node.`
        )
      )
    )
  )

const denyListFinding = Effect.gen(function* () {
  const { denyList } = yield* AppConfig
  if (Option.isNone(denyList)) return ok("deny list", "None: DENY_LIST is not set")
  return yield* readDenyList(denyList.value).pipe(
    Effect.map(({ addresses, date }) =>
      ok(
        "deny list",
        `${pluralised(addresses.size, "address", "addresses")}, last changed ${date.toISOString()}`
      )
    ),
    Effect.catch(({ message }) => Effect.succeed(failure("deny list", message)))
  )
})

/** Signs in to the mail server, without sending anything. */
const mailFindings = Effect.gen(function* () {
  const config = yield* AppConfig
  if (Option.isNone(config.smtp)) return []
  const { url } = config.smtp.value
  return yield* Effect.scoped(
    Effect.flatMap(mailTransport(config, url, 1), (transport) => Effect.tryPromise(() => transport.verify()))
  ).pipe(
    Effect.timeout("10 seconds"),
    Effect.as(ok("mail", "The server of SMTP_URL accepts connections")),
    Effect.catch((error) =>
      Effect.succeed(
        failure(
          "mail",
          `The server of SMTP_URL cannot be used: ${causeOf(error)}. Emails wait, and are given up after about a day. Check its address, user and password.`
        )
      )
    ),
    Effect.map(Array.of)
  )
})

const redisFindings = Effect.flatMap(AppConfig, ({ redisUrl }) =>
  Option.match(redisUrl, {
    onNone: () => Effect.succeed([]),
    onSome: (url) =>
      RateLimiter.checkRedis(url).pipe(
        Effect.as(ok("redis", "It responds and accepts writes")),
        Effect.catch((error) =>
          Effect.succeed(
            failure(
              "redis",
              `Redis at REDIS_URL cannot be used: ${causeOf(error)}. Until it can, each instance limits requests by itself. Check its address, user and password.`
            )
          )
        ),
        Effect.map(Array.of)
      )
  })
)

const codeOf = (error: unknown): string => {
  for (let at = error, depth = 0; depth < 4 && typeof at === "object" && at !== null; depth++) {
    if ("code" in at && typeof at.code === "string") return at.code
    at = "cause" in at ? at.cause : undefined
  }
  return "no answer"
}

/** The service as others reach it: by its name, proxy and certificate. */
const publicFinding = (baseUrl: string) =>
  Effect.tryPromise({
    try: () => fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(10_000) }),
    catch: codeOf
  }).pipe(
    Effect.map((response) =>
      response.ok
        ? ok("address", `${baseUrl} is reachable and ready`)
        : warning(
            "address",
            `${baseUrl}/readyz answers ${response.status}. Check that this is the service, and that it is ready.`
          )
    ),
    Effect.catch((code) =>
      Effect.succeed(
        failure(
          "address",
          /CERT|TLS|SSL|SIGNED/.test(code)
            ? `The certificate of ${baseUrl} is not trusted (${code}). Renew it, with its whole chain.`
            : `${baseUrl} is not reachable from here (${code}). Start the service; check DNS, the proxy and the firewall.`
        )
      )
    )
  )

const live = Flag.Boolean("live").pipe(
  Flag.withDescription("Check Mainnet as if it were open"),
  Flag.withDefault(false)
)

const signs = { ok: "ok", warning: "!", failure: "x" }

export const doctor = Command.make(
  "doctor",
  { json, live },
  Effect.fn("doctor")(function* (input) {
    const config = yield* AppConfig
    const { baseUrl, faucet, rpcUrls, environment } = config
    const [{ relayerKey }, { executes, executing }] = yield* Effect.all([DerivedWallets, Networks]).pipe(
      Effect.provide(
        DerivedWallets.layer.pipe(Layer.provideMerge(layerOpenNetworks(input.live ? envs : config.opened)))
      )
    )
    const keys = [
      ...Option.toArray(faucet.privateKey).map(
        (key) => ["faucet", faucetNetwork.env, Redacted.value(key)] as const
      ),
      ...executing.flatMap((env) =>
        Option.toArray(relayerKey(env)).map((key) => ["relayer", env, toHex(key())] as const)
      )
    ]
    const relayers = keys.flatMap(([about, env, key]) =>
      about === "relayer" ? [{ env, address: Address.make(privateKeyToAddress(key)) }] : []
    )
    const database = yield* Effect.cached(databaseFindings(relayers.map(({ address }) => address)))
    const spending = Effect.map(database, ({ spending }) => spending)
    const receiversOf = (env: Env) =>
      Effect.map(database, ({ receivers }) =>
        receivers.flatMap((receiver) => (receiver.env === env ? [receiver.address] : []))
      )
    const findings: Array<Finding> = [
      ok("configuration", `All variables are valid for ${environment}`),
      ...startWarnings(config).map((message) => warning("configuration", message)),
      ...misspeltVariables(process.env, variables).map((message) => warning("configuration", message)),
      ...(yield* Effect.all(
        [
          Effect.map(database, ({ findings }) => findings),
          ...envs.flatMap((env) =>
            rpcUrls[env].map((url) =>
              // A closed network settles no payment, so a failing node stops none.
              Effect.map(nodeFinding(env, url), (finding) => [
                finding.level === "failure" && !executes(env)
                  ? warning(finding.about, finding.message)
                  : finding
              ])
            )
          ),
          ...keys.map(([about, env, key]) =>
            Effect.map(walletFinding(about, env, key, rpcUrls[env][0], spending), Array.of)
          ),
          ...executing
            .filter((env) => hasTags(networks[env]))
            .map((env) =>
              liveFindings(
                env,
                rpcUrls[env],
                relayers.find((relayer) => relayer.env === env)?.address,
                receiversOf(env)
              )
            ),
          Effect.map(denyListFinding, Array.of),
          mailFindings,
          redisFindings,
          Effect.map(publicFinding(baseUrl), Array.of)
        ],
        { concurrency: "unbounded" }
      )).flat()
    ]
    for (const env of environment === "production" ? executing : []) {
      const { setting } = networks[env].nodes
      if (rpcUrls[env].length < 3)
        findings.push(
          warning(
            "nodes",
            `Fewer than three nodes. With three, one node may fail or lie. Add nodes to ${setting}.`
          )
        )
    }
    const failures = findings.filter(({ level }) => level === "failure").length
    const lines = findings.map(
      ({ about, level, message }) => `${signs[level].padEnd(3)} ${about.padEnd(14)} ${message}`
    )
    if (failures === 0) return yield* print(input.json, { findings }, lines)
    if (!input.json) yield* Console.log(lines.join("\n"))
    return yield* new CommandFailed({
      message: `${failures} of ${findings.length} checks failed.`,
      fields: { findings }
    })
  })
).pipe(
  Command.withDescription(
    "Check the database, nodes, clocks, wallets, webhook endpoints, mail, Redis, address and certificates"
  ),
  Command.withExamples([
    {
      command: "bun run cli doctor",
      description: "Checks the configuration, the database, the nodes and the wallets"
    },
    {
      command: "bun run cli doctor --live",
      description: "Also checks what Mainnet needs, before it is opened"
    }
  ])
)
