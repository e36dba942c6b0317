// A merchant and its buyers for tests over HTTP: keys of every kind, and the path from intent to settled payment in one
// call each.
import { Effect } from "effect"
import { Address, type Env, type TransactionHash } from "../../../src/domain/Chain.ts"
import { networks } from "../../../src/domain/networks.ts"
import { type Answer, type Call, send } from "../../support/contractCheck.ts"
import { receiver, type TestMerchant, type TestService } from "../../support/service.ts"

export const buyer = Address.make("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045")
export const stranger = Address.make("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
export const intentUrl = "https://shop.example.com/orders/1042"

export interface Shop {
  readonly merchant: TestMerchant
  readonly keys: Readonly<
    Record<
      | "full"
      | "readOnly"
      | "publishable"
      | "agent"
      | "liveFull"
      | "liveReadOnly"
      | "livePublishable"
      | "liveAgent",
      string
    >
  >
  readonly call: (call: Call) => Promise<Answer>
  readonly createIntent: (amount?: string, env?: Env) => Promise<Answer>
  readonly open: (amount?: string, env?: Env) => Promise<Answer>
  /** A mined transfer from the buyer to the merchant, with its confirmation. */
  readonly transfer: (
    amountAtomic: bigint,
    options?: { readonly from?: Address; readonly to?: Address; readonly confirm?: boolean }
  ) => Promise<TransactionHash>
  readonly report: (
    paymentId: string,
    transactionId: string,
    amountAtomic: bigint,
    changes?: { readonly env?: Env; readonly buyerDidToken?: string; readonly tokenChanges?: unknown }
  ) => Promise<Answer>
  readonly settle: (
    amount?: string,
    amountAtomic?: bigint
  ) => Promise<{ readonly payment: Answer["body"]["payment"]; readonly transactionId: TransactionHash }>
}

export const tokenChangesOf = (amountAtomic: bigint, env: Env = "test", to: Address = receiver) => [
  {
    amountAtomic: amountAtomic.toString(),
    chainId: networks[env].chainId,
    receiver: to,
    tokenAddress: networks[env].usdc.address
  }
]

/** The shop of a new merchant unless one is given. */
export const makeShop = async (service: TestService, of?: TestMerchant): Promise<Shop> => {
  const merchant = of ?? (await Effect.runPromise(service.newMerchant))
  const newKey = (kind: "secret" | "agent", env: Env, permission: "manage" | "read") =>
    Effect.runPromise(service.newKey(merchant, kind, env, permission))
  const keys = {
    full: merchant.keys.test.secret,
    readOnly: await newKey("secret", "test", "read"),
    publishable: merchant.keys.test.publishable,
    agent: await newKey("agent", "test", "read"),
    liveFull: merchant.keys.live.secret,
    liveReadOnly: await newKey("secret", "live", "read"),
    livePublishable: merchant.keys.live.publishable,
    liveAgent: await newKey("agent", "live", "read")
  }
  const call = (one: Call) => send(service.baseUrl, one)
  const createIntent = (amount = "10.00", env: Env = "test") =>
    call({
      method: "POST",
      path: "/api/v1/payment-intents",
      key: env === "test" ? keys.full : keys.liveFull,
      body: { amount, intentUrl }
    })
  const publishable = (env: Env) => (env === "test" ? keys.publishable : keys.livePublishable)
  const open = async (amount = "10.00", env: Env = "test") => {
    const { body } = await createIntent(amount, env)
    return call({
      method: "POST",
      path: "/api/v1/payments",
      key: publishable(env),
      body: { intentToken: body.intentToken }
    })
  }
  const transfer: Shop["transfer"] = (amountAtomic, options = {}) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const from = options.from ?? buyer
        yield* service.chain.fund(from, { usdcAtomic: amountAtomic })
        const hash = yield* service.chain.transfer({
          from,
          to: options.to ?? merchant.receiver,
          amount: amountAtomic
        })
        if (options.confirm !== false) yield* service.chain.mine(2)
        return hash
      })
    )
  const report: Shop["report"] = (paymentId, transactionId, amountAtomic, changes = {}) =>
    call({
      method: "PATCH",
      path: `/api/v1/payments/${paymentId}`,
      key: publishable(changes.env ?? "test"),
      body: {
        buyerDidToken: changes.buyerDidToken ?? `buyer:${buyer}`,
        transactionId,
        tokenChanges: changes.tokenChanges ?? tokenChangesOf(amountAtomic, changes.env, merchant.receiver)
      }
    })
  const settle: Shop["settle"] = async (amount = "10.00", amountAtomic = 10_000_000n) => {
    const opened = await open(amount)
    const transactionId = await transfer(amountAtomic)
    const reported = await report(opened.body.payment.id, transactionId, amountAtomic)
    if (reported.status !== 200) throw new Error(`not settled: ${reported.text}`)
    return { payment: reported.body.payment, transactionId }
  }
  return { merchant, keys, call, createIntent, open, transfer, report, settle }
}
