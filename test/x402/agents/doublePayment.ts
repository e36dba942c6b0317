// Settlements under known failures: a client that gives up, a node that loses an answer, a service killed during the
// broadcast. The payer pays once, however often a request is repeated, and the merchant is notified.
import { Effect } from "effect"
import { toHex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../../src/app/dev/LocalUsdc.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { networks } from "../../../src/domain/networks.ts"
import { typedDataOf } from "../../../src/x402/Authorization.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { rpcProxy } from "../../support/rpcProxy.ts"
import { requirementsV2 } from "../x402World.ts"

export interface DoublePaymentRun {
  readonly rounds: number
  readonly kills: number
  /** Rounds in which the payer did not pay exactly once. */
  readonly wrong: ReadonlyArray<string>
}

const receiver = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
const amount = 250_000n
const failures = [
  "asker gives up",
  "answer lost",
  "node down",
  "killed at broadcast",
  "killed after broadcast"
] as const

export const doublePaymentRounds = (rounds: number, log: (line: string) => void) =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const node = yield* rpcProxy(chain.rpcUrl)
    const dataDir = yield* temporaryDirectory
    const env = {
      DATABASE_URL: yield* ownDatabase(),
      DATA_DIR: dataDir,
      BASE_SEPOLIA_RPC_URLS: node.url,
      ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
      TESTNET_CONFIRMATIONS: "0"
    }
    const cli = yield* spawnProgram(
      ["src/app/cli/main.ts", "merchant", "create", "--name", "M", "--receiver", receiver, "--json"],
      env
    )
    if ((yield* cli.exited) !== 0) throw new Error(cli.output())
    const key = JSON.parse(cli.stdout()).keys.test.secret
    const start = Effect.gen(function* () {
      const service = yield* spawnService(env)
      yield* untilReady(service)
      return service
    })
    let service = yield* start
    const call = async (path: string, body?: unknown, signal?: AbortSignal, identity?: string) => {
      const response = await fetch(`${service.baseUrl}/api/v1${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          ...(identity === undefined ? {} : { "quittance-idempotency-key": identity })
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal })
      })
      return response.json()
    }
    const supported = yield* Effect.promise(() => call("/x402/supported"))
    yield* chain.setEth(supported.signers["eip155:*"][0], 10n ** 20n)

    const balanceOf = (address: Address) =>
      Effect.promise(() =>
        chain.publicClient.readContract({
          address: networks.test.usdc.address,
          abi: usdcAbi,
          functionName: "balanceOf",
          args: [address]
        })
      )
    let kills = 0
    const wrong: Array<string> = []
    for (let round = 0; round < rounds; round++) {
      const failure = failures[round % failures.length] ?? "asker gives up"
      const account = privateKeyToAccount(generatePrivateKey())
      const payer = Address.make(account.address)
      yield* chain.mint(payer, amount * 4n)
      const now = BigInt(Math.floor(Date.now() / 1000))
      const authorization = {
        from: payer,
        to: receiver,
        value: amount,
        validAfter: now - 600n,
        validBefore: now + 120n,
        nonce: toHex(crypto.getRandomValues(new Uint8Array(32)))
      }
      const signature = yield* Effect.promise(() =>
        account.signTypedData(typedDataOf(networks.test, authorization))
      )
      const accepted = requirementsV2(amount)
      const body = {
        x402Version: 2,
        paymentPayload: {
          x402Version: 2,
          accepted,
          payload: {
            signature,
            authorization: {
              ...authorization,
              value: amount.toString(),
              validAfter: authorization.validAfter.toString(),
              validBefore: authorization.validBefore.toString()
            }
          }
        },
        paymentRequirements: accepted
      }
      const victim = service
      const killNow = () => {
        kills += 1
        process.kill(victim.pid, "SIGKILL")
      }
      let broken = false
      node.behave((method) => {
        if (method !== "eth_sendRawTransaction" || broken) return undefined
        switch (failure) {
          case "asker gives up":
            return undefined
          case "answer lost":
            broken = true
            return { change: () => 7 }
          case "node down":
            return { raw: new Response("down", { status: 503 }) }
          case "killed at broadcast":
            broken = true
            killNow()
            return { raw: new Response("down", { status: 503 }) }
          case "killed after broadcast":
            broken = true
            return {
              change: (result) => {
                killNow()
                return result
              }
            }
        }
      })
      const given = failure === "asker gives up" ? 5 + (round % 60) : failure === "node down" ? 400 : 20_000
      yield* Effect.promise(() =>
        call("/x402/settle", body, AbortSignal.timeout(given), `round-${round}`).catch(() => undefined)
      )
      node.behave(() => undefined)
      if (failure.startsWith("killed")) service = yield* start
      // The merchant's server repeats the request under its own id, and always gets the same answer.
      const answers = yield* Effect.promise(async () => {
        const until = Date.now() + 60_000
        while (true) {
          const all = await Promise.all(
            [1, 2, 3].map(() => call("/x402/settle", body, undefined, `round-${round}`))
          )
          const pending = all.some(
            (one) => one.errorReason === "settlement_pending" || one.error !== undefined
          )
          if (!pending || Date.now() > until) return all
          await Bun.sleep(100)
        }
      })
      const transactions = new Set(answers.map((one) => one.transaction))
      const left = yield* balanceOf(payer)
      const listed = (yield* Effect.promise(() => call("/payments?limit=100"))).payments.filter(
        (one: { readonly payerAddress?: string }) => one.payerAddress === payer
      )
      const isRight =
        answers.every((one) => one.success === true) &&
        transactions.size === 1 &&
        left === amount * 3n &&
        listed.length === 1 &&
        listed[0].status === "settled"
      if (!isRight) wrong.push(`${round} ${failure}: paid ${amount * 4n - left}, ${JSON.stringify(answers)}`)
      if (round % 10 === 9) log(`${round + 1} rounds, ${kills} kills, ${wrong.length} wrong`)
    }
    const run: DoublePaymentRun = { rounds, kills, wrong }
    return run
  }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
