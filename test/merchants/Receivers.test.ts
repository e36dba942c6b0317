// Receiving addresses where the wire does not reach: contract wallets as owners, and
// merchants that shared an address before addresses had owners.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { hashMessage } from "viem"
import * as receivers from "../../migrations/0006_receivers.ts"
import { AppConfig } from "../../src/AppConfig.ts"
import { AuditLog, operator } from "../../src/audit/AuditLog.ts"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import { migrate } from "../../src/database/migrate.ts"
import { migrations } from "../../src/database/migrations.ts"
import { KeyAuth } from "../../src/keys/KeyAuth.ts"
import { MerchantRepo } from "../../src/merchants/MerchantRepo.ts"
import { ReceiverChangeRepo } from "../../src/merchants/ReceiverChangeRepo.ts"
import { Receivers } from "../../src/merchants/Receivers.ts"
import { testDatabase } from "../support/database.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { liveEffect } from "../support/run.ts"

describe("Receivers on Postgres", () => {
  const database = testDatabase
  describe("contract wallets", () => {
    liveEffect("the chain judges a signature that no key of the address made", () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const contracts = Layer.succeed(ContractSignatures, {
          verify: (env, address, hash, signature) =>
            Effect.sync(() => {
              asked.push(`${env} ${address} ${hash}`)
              return signature === "0x1271"
            })
        })
        const layer = Receivers.layer.pipe(
          Layer.provide([MerchantRepo.layer, ReceiverChangeRepo.layer, contracts]),
          Layer.provideMerge(KeyAuth.layer),
          Layer.provide(AuditLog.layer),
          Layer.provide(database.layer),
          Layer.provide([SecureRandom.layerWebCrypto, AppConfig.layer({})])
        )
        yield* Effect.gen(function* () {
          const keys = yield* KeyAuth
          const receivers = yield* Receivers
          const wallet = freshAddress()
          yield* keys.createMerchant({ name: "One", receivers: { test: wallet, live: wallet } })
          const own = freshAddress()
          const { merchant } = yield* keys.createMerchant({
            name: "Two",
            receivers: { test: own, live: own }
          })
          const place = { merchantId: merchant.id, env: "test" as const, address: wallet }
          const refused = yield* Effect.flip(receivers.change(place, Option.some("0x00"), operator))
          const [detail] = refused.details ?? []
          expect(asked).toEqual([`test ${wallet} ${hashMessage(detail?.expected ?? "")}`])
          const moved = yield* receivers.change(place, Option.some("0x1271"), operator)
          expect(Option.getOrThrow(moved)).toEqual({
            before: own,
            after: wallet,
            dueAt: Option.none(),
            withdrawn: Option.none()
          })
        }).pipe(Effect.provide(layer))
      })
    )
  })

  describe("merchants that shared an address", () => {
    liveEffect("the oldest that receives there keeps it, then the first that was paid there", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // Back to how it was before addresses had owners, with merchants of that time.
        yield* sql`DROP TABLE merchant_receivers`
        yield* sql`ALTER TABLE merchants DROP COLUMN bound_tokens_only, DROP COLUMN token_lifetime_seconds`
        yield* sql`DELETE FROM effect_sql_migrations WHERE migration_id >= 6`
        const shared = Buffer.alloc(20, 1)
        const past = Buffer.alloc(20, 2)
        const present = Buffer.alloc(20, 3)
        const id = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
        const at = (day: number) => new Date(Date.UTC(2026, 0, day))
        for (const [n, test, live, day] of [
          [1, present, present, 3],
          [2, shared, past, 2],
          [3, shared, shared, 1]
        ] as const) {
          yield* sql`
            INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
            VALUES (${id(n)}, 'Shop', ${test}, ${live}, ${at(day)})`
        }
        for (const [n, merchant, receiver, day] of [
          [4, 1, past, 5],
          [5, 2, past, 6],
          [6, 1, shared, 4]
        ] as const) {
          yield* sql`
            INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type,
              created_at)
            VALUES (${id(n)}, ${id(merchant)}, 'test', 'pending', 1, ${`PAY-AAAAAAA${n}`}, 'https://a.example',
              ${receiver}, 'human', ${at(day)})`
        }
        expect(migrations["0006_receivers"]).toBe(receivers)
        yield* migrate({ "0006_receivers": receivers }, "of the tests")
        const rows = yield* sql`
          SELECT env, encode(address, 'hex') AS address, merchant_id, since FROM merchant_receivers
          ORDER BY env, address`
        const owner = (env: string, address: Buffer, n: number, day: number) => ({
          env,
          address: address.toString("hex"),
          merchant_id: id(n),
          since: at(day)
        })
        expect(rows).toEqual([
          owner("live", shared, 3, 1),
          owner("live", past, 2, 2),
          owner("live", present, 1, 3),
          owner("test", shared, 3, 1),
          owner("test", past, 1, 5),
          owner("test", present, 1, 3)
        ])
      }).pipe(Effect.provide(database.layer))
    )
  })
})
