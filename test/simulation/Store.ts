// What the instances share, and how the oracle reads it past all faults.
import { Context, Effect, Layer, Option, Scope } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { AppConfig } from "../../src/AppConfig.ts"
import type { Agents } from "../../src/agents/Agents.ts"
import type { Releases } from "../../src/agents/Releases.ts"
import { Alerts } from "../../src/alerts/Alerts.ts"
import type { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import type { RpcPool } from "../../src/chain/RpcPool.ts"
import type { Address } from "../../src/domain/Chain.ts"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import type { Payments } from "../../src/payments/Payments.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import type { Facilitator } from "../../src/x402/Facilitator.ts"
import type { Rows } from "./oracle/Look.ts"
import type { Shop } from "./People.ts"
import type { Upkeep } from "./sql/Upkeep.ts"
import { CurrentOwner, type Owner } from "./World.ts"

export interface Store {
  /** What an instance stands on. */
  readonly layer: Layer.Layer<PaymentRepo | WebhookRepo | KeyAuth | Alerts, never, SecureRandom.SecureRandom>
  /** Agents, x402 and the relayer, whose repositories are SQL alone. */
  readonly signing?: Layer.Layer<
    Facilitator | Releases | Agents,
    never,
    AppConfig | RpcPool | ContractSignatures | PaymentRepo | Payments | Alerts | SecureRandom.SecureRandom
  >
  /** The wallet that pays for them. */
  readonly relayer?: Address
  /** Undefined while somebody is in a transaction. */
  readonly rows: (shops: ReadonlyArray<Shop>) => ReadonlyArray<Rows> | undefined
  /** What the service's wallet has signed and no block has taken. */
  readonly openTransactions: () => number
  /** Payments for which the service has itself reported what used an authorization. */
  readonly reported: () => ReadonlyArray<string>
  /** Up to which block the chain has been read, -1 for none. */
  readonly readUpTo: () => number
  /** What an operator does to the tables: nothing in memory. */
  readonly upkeep?: Upkeep
  /** Ends what an abandoned instance has begun. */
  readonly abandon: (owner: Owner) => void
}

/** Alerts that keep in `dropped` what is told of the payments whose transfers are gone. */
const keeping = (dropped: Map<string, string>) =>
  Layer.effect(
    Alerts,
    Effect.map(Alerts, ({ raise, resolve }) =>
      Alerts.of({
        raise: (alert) => {
          if (alert.kind === "transfer_dropped" && !dropped.has(alert.subject))
            dropped.set(alert.subject, alert.message)
          return raise(alert)
        },
        resolve: (kind, subject) => {
          if (kind === "transfer_dropped") dropped.delete(subject)
          return resolve(kind, subject)
        }
      })
    )
  ).pipe(Layer.provide(Alerts.layerMemory))

/** The memory stores that tests swap in. */
export const memoryStore = (outside: Owner): Effect.Effect<Store, never, SecureRandom.SecureRandom> => {
  const dropped = new Map<string, string>()
  const memory = Layer.mergeAll(PaymentRepo.layerMemory, KeyAuth.layerMemory, keeping(dropped))
  return Effect.map(Layer.buildWithScope(memory, Scope.makeUnsafe()), (context) => {
    const payments = Context.get(context, PaymentRepo)
    const webhooks = Context.get(context, WebhookRepo)
    const read = Effect.runSyncWith(Context.make(CurrentOwner, outside))
    return {
      layer: Layer.succeedContext(context),
      rows: (shops) =>
        shops.map((shop): Rows => {
          const tenant = { merchantId: shop.merchant.id, env: "test" as const }
          const page = read(payments.list(tenant, { limit: 100, startingAfter: undefined }))
          const all = page._tag === "Some" ? page.value.payments : []
          return {
            shop,
            payments: all,
            attempts: all
              .filter(({ status }) => status === "pending")
              .flatMap(({ id }) => {
                const known = read(payments.attempts(tenant, id))
                const payers = known._tag === "None" ? [] : known.value.attempts.map(({ payer }) => payer)
                return payers.flatMap((payer) => {
                  const open = read(payments.openAttempt(id, payer))
                  if (open._tag === "None") return []
                  const { announcedAt: since, nonce } = open.value
                  return [{ paymentId: id, payer, since, nonce }]
                })
              }),
            settlements: [],
            refunds: Option.getOrElse(read(payments.listRefunds(tenant, { limit: 100 })), () => []),
            dropped: new Map(dropped),
            deliveries: read(webhooks.listDeliveries(tenant, 100)),
            transfers: read(
              payments.listTransfers(tenant, { status: "all", limit: 200, startingAfter: undefined })
            )
          }
        }),
      openTransactions: () => 0,
      reported: () => [],
      readUpTo: () => {
        const cursor = read(payments.cursor("test"))
        return cursor._tag === "Some" ? Number(cursor.value.blockNumber) : -1
      },
      abandon: () => {}
    }
  })
}
