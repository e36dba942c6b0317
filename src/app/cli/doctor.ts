// `doctor`: looks at what a deployment stands on, and says what to do about what is wrong.

import { Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Command } from "effect/cli"
import { toHex } from "viem"
import { Bytes, Quantity } from "../../chain/RpcSchemas.ts"
import { DerivedWallets } from "../../chain/wallets/DerivedWallets.ts"
import type { Env } from "../../domain/Chain.ts"
import { envs, networks, walletNetwork } from "../../domain/networks.ts"
import { misspeltVariables } from "../../platform/AppConfig/misspeltVariables.ts"
import { variables } from "../../platform/AppConfig/settings.ts"
import { startWarnings } from "../../platform/AppConfig/startWarnings.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as Database from "../../platform/Database.ts"
import { ClockRepo } from "../../platform/database/ClockRepo.ts"
import { isClosed } from "../../platform/database/closeToWriting.ts"
import { Networks } from "../../platform/Networks.ts"
import { EndpointUrlRepo } from "../../webhooks/EndpointUrlRepo.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { askNode } from "./doctor/askNode.ts"
import { type Finding, failure, ok, warning } from "./doctor/Finding.ts"
import { receiverFindings } from "./doctor/receiverFindings.ts"
import { secretFindings } from "./doctor/secretFindings.ts"
import { walletFinding } from "./doctor/walletFinding.ts"
import { json, print } from "./flags.ts"

const toleratedSeconds = 20
/** A chain that made no block for so long has stopped, or the node has. */
const staleSeconds = 120

const ageOf = (seconds: bigint) => Math.round(Date.now() / 1000) - Number(seconds)

/** The URL of a node may hold a key: its host alone is shown. */
const hostOf = (url: string) => URL.parse(url)?.host ?? "?"

const nodeFinding = (env: Env, url: string) =>
  Effect.gen(function* () {
    const about = `node ${hostOf(url)}`
    const { chainId, name, usdc } = networks[env]
    const chain = yield* askNode(url, Quantity, "eth_chainId", [])
    if (chain !== BigInt(chainId))
      return failure(about, `It serves chain ${chain}, not ${name} (${chainId}). Take it out of the setting.`)
    if ((yield* askNode(url, Bytes, "eth_getCode", [usdc.address, "latest"])) === "0x")
      return failure(about, `It knows no USDC at ${usdc.address}. Take another node.`)
    const block = yield* askNode(url, Schema.Struct({ timestamp: Quantity }), "eth_getBlockByNumber", [
      "latest",
      false
    ])
    const age = ageOf(block.timestamp)
    if (age < -toleratedSeconds)
      return failure(about, `Its newest block is ${-age} s in the future. Set this machine's clock by NTP.`)
    return age > staleSeconds
      ? warning(about, `Its newest block is ${age} s old: it lags, or this machine's clock is ahead.`)
      : ok(about, `${name}, newest block ${age} s old`)
  }).pipe(
    Effect.catch(() =>
      Effect.succeed(
        failure(`node ${hostOf(url)}`, "It does not answer. Check the address, its key and the firewall.")
      )
    )
  )

const clockFinding = Effect.gen(function* () {
  const repo = yield* ClockRepo
  const ahead = Math.round((Date.now() - (yield* repo.now).getTime()) / 1000)
  return Math.abs(ahead) > toleratedSeconds
    ? failure(
        "database",
        `Its clock is ${Math.abs(ahead)} s ${ahead > 0 ? "behind" : "ahead of"} this machine's. Set both by NTP.`
      )
    : ok("database", "It answers, and its clock is right")
})

/** A moved database answers as ever. */
const writingFindings = Effect.gen(function* () {
  const { database } = yield* AppConfig
  return (yield* isClosed(Database.whereOf(database)))
    ? [
        failure(
          "database",
          "It is closed to writing, as `database move` leaves it. Set DATABASE_URL to where the shop was moved; to go on with this one instead, run: bun run cli database reopen"
        )
      ]
    : []
})

/** The database, and the secrets and receivers that it holds. */
const databaseFindings = Effect.gen(function* () {
  const clock = yield* clockFinding
  const closed = yield* writingFindings
  // A database that no service has started on yet holds none.
  const secrets = yield* Effect.catchCause(secretFindings, () => Effect.succeed([]))
  const receivers = yield* Effect.catchCause(receiverFindings, () => Effect.succeed([]))
  return [clock, ...closed, ...secrets, ...receivers]
}).pipe(
  Effect.provide(
    Layer.mergeAll(ClockRepo.layer, EndpointUrlRepo.layer).pipe(Layer.provideMerge(Database.layerCopy))
  ),
  Effect.timeout("45 seconds"),
  Effect.catchCause(() =>
    Effect.succeed([
      failure(
        "database",
        "It does not answer. Check DATABASE_URL: host, port, user, password, and that it runs."
      )
    ])
  )
)

const codeOf = (error: unknown): string => {
  for (let at = error, depth = 0; depth < 4 && typeof at === "object" && at !== null; depth++) {
    if ("code" in at && typeof at.code === "string") return at.code
    at = "cause" in at ? at.cause : undefined
  }
  return "no answer"
}

/** As others reach it: through its name, its proxy and its certificate. */
const publicFinding = (baseUrl: string) =>
  Effect.tryPromise({
    try: () => fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(10_000) }),
    catch: codeOf
  }).pipe(
    Effect.map((response) =>
      response.ok
        ? ok("address", `${baseUrl} answers, ready`)
        : warning(
            "address",
            `${baseUrl}/readyz answers ${response.status}. Is it this service, and is it ready?`
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

const signs = { ok: "ok", warning: "!", failure: "x" }

export const doctor = Command.make(
  "doctor",
  { json },
  Effect.fn("doctor")(function* (input) {
    const config = yield* AppConfig
    const { baseUrl, faucet, rpcUrls, environment } = config
    const { relayerKey } = yield* DerivedWallets
    const { executes, executing } = yield* Networks
    const keys = [
      ...Option.toArray(faucet.privateKey).map((key) => ["faucet", Redacted.value(key)] as const),
      ...Option.toArray(relayerKey).map((key) => ["relayer", toHex(key())] as const)
    ]
    const findings: Array<Finding> = [
      ok("configuration", `It is complete, for ${environment}`),
      ...startWarnings(config).map((message) => warning("configuration", message)),
      ...misspeltVariables(process.env, variables).map((message) => warning("configuration", message)),
      ...(yield* Effect.all(
        [
          databaseFindings,
          ...envs.flatMap((env) =>
            rpcUrls[env].map((url) =>
              // No payment settles on a network that does not execute: what is wrong there stops none.
              Effect.map(nodeFinding(env, url), (found) => [
                found.level === "failure" && !executes(env) ? warning(found.about, found.message) : found
              ])
            )
          ),
          ...keys.map(([about, key]) =>
            Effect.map(walletFinding(about, key, rpcUrls[walletNetwork.env][0]), Array.of)
          ),
          Effect.map(publicFinding(baseUrl), Array.of)
        ],
        { concurrency: "unbounded" }
      )).flat()
    ]
    for (const env of environment === "production" ? executing : []) {
      const { setting } = networks[env].nodes
      if (rpcUrls[env].length < 3)
        findings.push(
          warning("nodes", `Fewer than three: with three, one may fail or lie. Add to ${setting}.`)
        )
    }
    const failures = findings.filter(({ level }) => level === "failure").length
    const lines = findings.map(
      ({ about, level, message }) => `${signs[level].padEnd(3)} ${about.padEnd(14)} ${message}`
    )
    if (failures === 0) return yield* print(input.json, { findings }, lines)
    if (!input.json) yield* Console.log(lines.join("\n"))
    return yield* new CommandFailed({
      message: `${failures} of ${findings.length} would stop payments.`,
      found: { findings }
    })
  }, Effect.provide(DerivedWallets.layer))
).pipe(
  Command.withDescription(
    "Check database, nodes, clocks, wallets, webhook receivers, address and certificates; says what to do"
  )
)
