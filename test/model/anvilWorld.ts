// The model's world on a real database and anvil with the real USDC. Its clock can
// be moved ahead; the reconciler polls in real time.
import {
  Context,
  Duration,
  Effect,
  Exit,
  Layer,
  ManagedRuntime,
  Option,
  References,
  Result,
  Scope
} from "effect"
import { toHex } from "viem"
import { AppConfig } from "../../src/AppConfig.ts"
import { ChainVerifier } from "../../src/chain/ChainVerifier.ts"
import { RpcPool } from "../../src/chain/RpcPool.ts"
import type { LocalChain } from "../../src/dev/LocalChain.ts"
import { TransactionHash } from "../../src/domain/Chain.ts"
import type { Payment } from "../../src/domain/Payment.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { Payments } from "../../src/payments/Payments.ts"
import * as Reconciler from "../../src/payments/Reconciler.ts"
import * as TransferWatch from "../../src/payments/TransferWatch.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { address, transferData, usdc } from "../support/anvilSuite.ts"
import type { TestDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { newMerchant, openPayment, paymentsOver, reportOf, sqlStack } from "../support/paymentStack.ts"
import { rpcProxy } from "../support/rpcProxy.ts"
import { makeShiftedClock } from "../support/shiftedClock.ts"
import { expirySeconds, type World } from "./paymentModel.ts"

/** Merchants follow each other, so that runs on one chain do not meet. */
let worlds = 0
/** Accounts of the development mnemonic that play the buyers. */
const buyerIndex = [80, 81] as const

export const makeAnvilWorld = async (
  chain: LocalChain["Service"],
  database: TestDatabase
): Promise<World> => {
  const clock = makeShiftedClock()
  worlds += 1
  const receiver = address(`0x${"5e".repeat(16)}${worlds.toString(16).padStart(8, "0")}`)
  const runtime = ManagedRuntime.make(
    Layer.unwrap(
      Effect.gen(function* () {
        const nodes = [yield* rpcProxy(chain.rpcUrl), yield* rpcProxy(chain.rpcUrl)]
        return sqlStack.pipe(
          Layer.provideMerge(
            ChainVerifier.layer({ confirmations: { test: 1 }, memory: 0, negativeMemory: 0 })
          ),
          Layer.provideMerge(
            RpcPool.layer({
              urls: { test: nodes.map(({ url }) => url) },
              retries: 0,
              timeout: 2000,
              deadline: 3000
            })
          ),
          Layer.provideMerge(database.layer),
          Layer.merge(Layer.succeed(Nodes, nodes))
        )
      })
    ).pipe(Layer.provideMerge(Layer.merge(clock.layer, Layer.succeed(References.MinimumLogLevel, "None"))))
  )
  const context = await runtime.context()
  const run = <A, E>(effect: Effect.Effect<A, E, ManagedRuntime.ManagedRuntime.Services<typeof runtime>>) =>
    runtime.runPromise(effect)
  const nodes = Context.get(context, Nodes)
  const repo = Context.get(context, PaymentRepo)
  const webhooks = Context.get(context, WebhookRepo)
  const { principal, tenant } = await run(newMerchant(receiver))
  for (const index of buyerIndex) {
    const { address: buyer } = chain.account(index)
    await run(Effect.orDie(chain.setEth(address(buyer), 10n ** 20n)))
    await run(Effect.orDie(chain.mint(address(buyer), 1_000_000n)))
  }
  const buyers = buyerIndex.map((index) => address(chain.account(index).address))
  // Earlier worlds have moved the chain's time ahead; this one's clock starts there.
  const { timestamp } = await chain.publicClient.getBlock()
  const behind = Number(timestamp) - Math.floor(Date.now() / 1000)
  await run(clock.pass(Math.max(0, behind)))
  const payments: Array<Payment> = []
  const sent: Array<TransactionHash> = []

  /** The next blocks carry the time of the moved clock. */
  const stamp = async () => {
    const now = BigInt(Math.floor((await run(Effect.clockWith((it) => it.currentTimeMillis))) / 1000))
    const latest = await chain.publicClient.getBlock()
    await run(
      Effect.orDie(
        chain.rpc("evm_setNextBlockTimestamp", [toHex(now > latest.timestamp ? now : latest.timestamp + 1n)])
      )
    )
  }
  const start = async () => {
    const scope = Scope.makeUnsafe()
    const built = await run(
      Layer.buildWithScope(
        Layer.fresh(
          Layer.merge(Reconciler.layer, TransferWatch.layer).pipe(Layer.provideMerge(paymentsOver))
        ).pipe(
          Layer.provide(
            Layer.effect(
              AppConfig,
              Effect.map(AppConfig, (config) => ({
                ...config,
                paymentExpiry: Duration.seconds(expirySeconds)
              }))
            ).pipe(Layer.provide(testConfig()))
          ),
          Layer.provide(Layer.succeedContext(context))
        ),
        scope
      )
    )
    return { scope, payments: Context.get(built, Payments) }
  }
  let service = await start()

  return {
    open: async (amount) => {
      payments.push(await run(openPayment(principal, receiver, BigInt(amount))))
    },
    send: async (from, amount) => {
      await stamp()
      const hash = await chain
        .walletClient(buyerIndex[from])
        .sendTransaction({ to: usdc, data: transferData(receiver, BigInt(amount)), gas: 100_000n })
      await chain.publicClient.waitForTransactionReceipt({ hash, timeout: 10_000 })
      sent.push(TransactionHash.make(hash))
    },
    mine: async (blocks) => {
      for (let block = 0; block < blocks; block++) {
        await stamp()
        await run(Effect.orDie(chain.mine(1)))
      }
    },
    reorganise: async (depth, keep) => {
      const head = Number(await chain.publicClient.getBlockNumber({ cacheTime: 0 }))
      const kept: Array<readonly [string, number]> = []
      for (let number = head - depth + 1; keep && number <= head; number++) {
        const block = await chain.publicClient.getBlock({ blockNumber: BigInt(number) })
        for (const hash of block.transactions) {
          kept.push([String(await run(Effect.orDie(chain.rpc("eth_getRawTransactionByHash", [hash])))), 0])
        }
      }
      await run(Effect.orDie(chain.rpc("anvil_reorg", [depth, kept])))
    },
    fault: async (fault) => {
      for (const [index, node] of nodes.entries()) {
        node.behave((method) =>
          fault === "fail"
            ? { raw: new Response("", { status: 503 }) }
            : fault === "lie" && index === 0 && method === "eth_getTransactionReceipt"
              ? { change: tampered }
              : undefined
        )
      }
    },
    report: async (index, transaction, by) => {
      const [payment, hash, buyer] = [payments[index], sent[transaction], buyers[by]]
      if (payment === undefined || hash === undefined || buyer === undefined) return "nothing"
      const answer = await run(
        Effect.result(service.payments.report(principal, payment.id, reportOf(payment, buyer, hash)))
      )
      if (Result.isSuccess(answer)) return answer.success._tag
      const { code, reason } = answer.failure
      return reason === undefined ? code : `${code} ${reason}`
    },
    restart: async () => {
      await run(Scope.close(service.scope, Exit.void))
      service = await start()
    },
    pass: async (seconds) => {
      await run(clock.pass(seconds))
      await Bun.sleep(seconds > 100 ? 2500 : 1300)
    },
    statuses: () =>
      run(
        Effect.forEach(payments, (payment) =>
          Effect.map(
            Effect.map(repo.find(payment, payment.id), Option.getOrThrow),
            ({ reported, status }) => ({
              status,
              transaction: reported === null ? -1 : sent.indexOf(reported.evidence.transactionId)
            })
          )
        )
      ),
    deliveries: () => run(Effect.map(webhooks.listDeliveries(tenant, 1000), (all) => all.length)),
    close: async () => {
      await run(Scope.close(service.scope, Exit.void))
      await runtime.dispose()
    }
  }
}

class Nodes extends Context.Service<Nodes, ReadonlyArray<Effect.Success<ReturnType<typeof rpcProxy>>>>()(
  "test/model/Nodes"
) {}

/** The same receipt, with other logs. */
const tampered = (receipt: unknown): unknown =>
  typeof receipt === "object" && receipt !== null ? { ...receipt, logs: [] } : receipt
