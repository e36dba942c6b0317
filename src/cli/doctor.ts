// `doctor`: looks at what a deployment stands on, and says what to do about what is wrong.
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { Command } from "effect/cli"
import { isHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import { misspeltVariables } from "../AppConfig/misspeltVariables.ts"
import { variables } from "../AppConfig/settings.ts"
import { startWarnings } from "../AppConfig/startWarnings.ts"
import { AppConfig } from "../AppConfig.ts"
import { Bytes, Quantity } from "../chain/RpcSchemas.ts"
import * as Database from "../Database.ts"
import { ClockRepo } from "../database/ClockRepo.ts"
import { type Env, networks } from "../domain/Chain.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { json, print } from "./flags.ts"

interface Finding {
  readonly about: string
  readonly level: "ok" | "warning" | "failure"
  readonly told: string
}

const ok = (about: string, told: string): Finding => ({ about, level: "ok", told })
const warning = (about: string, told: string): Finding => ({ about, level: "warning", told })
const failure = (about: string, told: string): Finding => ({ about, level: "failure", told })

const toleratedSeconds = 20
/** A chain that made no block for so long has stopped, or the node has. */
const staleSeconds = 120
const patience = () => AbortSignal.timeout(10_000)

const decodeAnswer = Schema.decodeUnknownEffect(Schema.Struct({ result: Schema.Unknown }))

const ask = <A extends Schema.ConstraintDecoder<unknown>>(
  url: string,
  result: A,
  method: string,
  params: ReadonlyArray<unknown>
) =>
  Effect.tryPromise(() =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: patience()
    }).then((response) => response.json())
  ).pipe(
    Effect.flatMap(decodeAnswer),
    Effect.flatMap((answer) => Schema.decodeUnknownEffect(result)(answer.result))
  )

const ageOf = (seconds: bigint) => Math.round(Date.now() / 1000) - Number(seconds)

/** The URL of a node may hold a key: its host alone is shown. */
const hostOf = (url: string) => URL.parse(url)?.host ?? "?"

const nodeFinding = (env: Env, url: string) =>
  Effect.gen(function* () {
    const about = `node ${hostOf(url)}`
    const { chainId, name, usdc } = networks[env]
    const chain = yield* ask(url, Quantity, "eth_chainId", [])
    if (chain !== BigInt(chainId))
      return failure(about, `It serves chain ${chain}, not ${name} (${chainId}). Take it out of the setting.`)
    if ((yield* ask(url, Bytes, "eth_getCode", [usdc.address, "latest"])) === "0x")
      return failure(about, `It knows no USDC at ${usdc.address}. Take another node.`)
    const block = yield* ask(url, Schema.Struct({ timestamp: Quantity }), "eth_getBlockByNumber", [
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

const databaseFinding = Effect.gen(function* () {
  const repo = yield* ClockRepo
  const ahead = Math.round((Date.now() - (yield* repo.now).getTime()) / 1000)
  return Math.abs(ahead) > toleratedSeconds
    ? failure(
        "database",
        `Its clock is ${Math.abs(ahead)} s ${ahead > 0 ? "behind" : "ahead of"} this machine's. Set both by NTP.`
      )
    : ok("database", "It answers, and its clock is right")
}).pipe(
  Effect.provide(ClockRepo.layer.pipe(Layer.provide(Database.layerCopy))),
  Effect.timeout("15 seconds"),
  Effect.catchCause(() =>
    Effect.succeed(
      failure(
        "database",
        "It does not answer. Check DATABASE_URL: host, port, user, password, and that it runs."
      )
    )
  )
)

const walletFinding = (key: string, nodes: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [node] = nodes
    if (!isHex(key) || node === undefined) return failure("faucet", "FAUCET_PRIVATE_KEY cannot be read.")
    const address = privateKeyToAddress(key)
    const wei = yield* ask(node, Quantity, "eth_getBalance", [address, "latest"])
    return wei === 0n
      ? warning("faucet", `${address} has no ETH to pay fees with. Send it some, and test USDC.`)
      : ok("faucet", `${address} has ${(Number(wei) / 1e18).toFixed(5)} ETH`)
  }).pipe(
    Effect.catch(() =>
      Effect.succeed(warning("faucet", "Its balance cannot be read: the node does not answer."))
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
    try: () => fetch(`${baseUrl}/readyz`, { signal: patience() }),
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
    const findings: Array<Finding> = [
      ok("configuration", `It is complete, for ${environment}`),
      ...startWarnings(config).map((told) => warning("configuration", told)),
      ...misspeltVariables(process.env, variables).map((told) => warning("configuration", told)),
      ...(yield* Effect.all(
        [
          databaseFinding,
          ...rpcUrls.test.map((url) => nodeFinding("test", url)),
          ...Option.match(faucet.privateKey, {
            onNone: () => [],
            onSome: (key) => [walletFinding(Redacted.value(key), rpcUrls.test)]
          }),
          publicFinding(baseUrl)
        ],
        { concurrency: "unbounded" }
      ))
    ]
    if (environment === "production" && rpcUrls.test.length < 3)
      findings.push(
        warning("nodes", "Fewer than three: with three, one may fail or lie. Add to BASE_SEPOLIA_RPC_URLS.")
      )
    yield* print(
      input.json,
      { findings },
      findings.map(({ about, level, told }) => `${signs[level].padEnd(3)} ${about.padEnd(14)} ${told}`)
    )
    const failures = findings.filter(({ level }) => level === "failure").length
    if (failures > 0)
      return yield* new CommandFailed({ message: `${failures} of ${findings.length} would stop payments.` })
  })
).pipe(
  Command.withDescription("Check database, nodes, clocks, wallets, address and certificate; says what to do")
)
