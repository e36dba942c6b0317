// An address moves to another merchant at the moment when it takes effect as a merchant's receiver: whichever comes
// first, nobody is asked to pay the other merchant's address.
import { expect } from "bun:test"
import { Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../src/chain/ChainBytes.ts"
import type { MerchantId } from "../../src/domain/Merchant.ts"
import { AuditLog } from "../../src/merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { MerchantRepo } from "../../src/merchants/MerchantRepo.ts"
import { ReceiverChangeRepo, type WaitingChange } from "../../src/merchants/ReceiverChangeRepo.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { testDatabase } from "../support/database.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { liveEffect } from "../support/run.ts"

const layer = Layer.mergeAll(MerchantRepo.layer, ReceiverChangeRepo.layer, KeyAuth.layer).pipe(
  Layer.provide(AuditLog.layer),
  Layer.provideMerge(testDatabase.layer),
  Layer.provide([SecureRandom.layerWebCrypto, AppConfig.layer({})])
)

interface World {
  /** Takes effect at once, because the merchant has had the address before. */
  readonly change: Effect.Effect<string>
  /** Takes effect because its time has come. */
  readonly apply: Effect.Effect<string>
  /** Another merchant, who has proven ownership, claims it. */
  readonly take: Effect.Effect<string>
  /** Both at once: the second begins while the first has its locks. */
  readonly beside: (
    first: Effect.Effect<string>,
    second: Effect.Effect<string>
  ) => Effect.Effect<readonly [string, string]>
  /**
   * `moved`: the merchant must choose another address before its next intent. `present`: the address is its receiver.
   */
  readonly receiver: Effect.Effect<{ readonly moved: boolean; readonly present: boolean }>
}

const world = Effect.gen(function* () {
  const context = yield* Layer.build(layer)
  const [keys, merchants] = [Context.get(context, KeyAuth), Context.get(context, MerchantRepo)]
  const [sql, changes] = [Context.get(context, SqlClient.SqlClient), Context.get(context, ReceiverChangeRepo)]
  const newMerchant = Effect.gen(function* () {
    const receiver = freshAddress()
    const { merchant } = yield* keys.createMerchant({
      name: "Shop",
      receivers: { test: receiver, live: receiver }
    })
    return merchant.id
  })
  const [own, other] = [yield* newMerchant, yield* newMerchant]
  const address = freshAddress()
  const since = new Date()
  yield* sql`
    INSERT INTO merchant_receivers (env, address, merchant_id, since, watched_since)
    VALUES ('test', ${toBytes(address)}, ${own}, ${since}, ${since})`
  const [id, userId] = [crypto.randomUUID(), crypto.randomUUID()]
  yield* sql`
    INSERT INTO users (id, email, password_hash, operator, created_at)
    VALUES (${userId}, ${`${userId}@example.com`}, 'x', false, now())`
  yield* sql`
    INSERT INTO receiver_changes (id, merchant_id, env, address, requested_by, requested_at, due_at)
    VALUES (${id}, ${own}, 'test', ${toBytes(address)}, ${userId}, now(), now())`
  const due: WaitingChange = {
    ...{ id, merchantId: own, env: "test", address },
    ...{ requestedBy: "somebody", requestedAt: since, dueAt: since }
  }
  const atOnce = { wait: Option.none() }
  const placeOf = (merchantId: MerchantId) => ({ merchantId, env: "test" as const, address })
  const made: World = {
    change: Effect.map(merchants.changeReceiver(placeOf(own), atOnce), ({ _tag }) => _tag),
    apply: Effect.map(changes.apply(due, new Date()), ({ _tag }) => _tag),
    take: Effect.map(
      merchants.changeReceiver(placeOf(other), { ...atOnce, holder: { merchantId: own, since } }),
      ({ _tag }) => _tag
    ),
    beside: Effect.fnUntraced(function* (first, second) {
      const { began, one } = yield* sql.withTransaction(
        Effect.gen(function* () {
          const one = yield* first
          // On a connection of its own.
          const began = Effect.runPromise(second)
          yield* Effect.sleep("300 millis")
          return { began, one }
        })
      )
      return [one, yield* Effect.promise(() => began)] as const
    }, Effect.orDie),
    receiver: Effect.map(
      sql`
        SELECT 'test' = ANY(coalesce(moved_receivers, '{}')) AS moved, receiver_test = ${toBytes(address)} AS present
        FROM merchants WHERE id = ${own}`,
      ([row]) => ({ moved: row?.["moved"] === true, present: row?.["present"] === true })
    ).pipe(Effect.orDie)
  }
  return made
})

for (const way of ["change", "apply"] as const) {
  const how = way === "change" ? "changed to" : "applied"
  liveEffect(`an address that another merchant claims just before it is ${how} does not take effect`, () =>
    Effect.gen(function* () {
      const { beside, receiver, take, ...ways } = yield* world
      expect(yield* beside(take, ways[way])).toEqual(["Changed", way === "change" ? "Taken" : "Lost"])
      expect(yield* receiver).toEqual({ moved: false, present: false })
    })
  )
  liveEffect(`an address that another merchant claims just after it is ${how} moves away`, () =>
    Effect.gen(function* () {
      const { beside, receiver, take, ...ways } = yield* world
      expect(yield* beside(ways[way], take)).toEqual([way === "change" ? "Changed" : "Applied", "Changed"])
      expect(yield* receiver).toEqual({ moved: true, present: true })
    })
  )
}

liveEffect("two merchants that claim each other's address at once both succeed", () =>
  Effect.gen(function* () {
    const context = yield* Layer.build(layer)
    const [keys, merchants] = [Context.get(context, KeyAuth), Context.get(context, MerchantRepo)]
    const sql = Context.get(context, SqlClient.SqlClient)
    for (let round = 0; round < 8; round++) {
      const made = yield* Effect.forEach([freshAddress(), freshAddress()], (address) =>
        Effect.map(
          keys.createMerchant({ name: "Shop", receivers: { test: address, live: address } }),
          ({ merchant }) => ({ address, id: merchant.id })
        )
      )
      const since = new Date("2026-05-01T12:00:00.000Z")
      yield* sql`
        UPDATE merchant_receivers SET since = ${since}
        WHERE address = ANY (${made.map(({ address }) => toBytes(address))}::bytea[])`
      const outcomes = yield* Effect.forEach(
        made,
        ({ id }, index) => {
          const other = made[1 - index]
          return other === undefined
            ? Effect.die("there are two")
            : merchants.changeReceiver(
                { merchantId: id, env: "test", address: other.address },
                { wait: Option.none(), holder: { merchantId: other.id, since } }
              )
        },
        { concurrency: "unbounded" }
      )
      expect(outcomes.map(({ _tag }) => _tag)).toEqual(["Changed", "Changed"])
      const moved = yield* sql`
        SELECT id FROM merchants
        WHERE id = ANY (${made.map(({ id }) => id)}::uuid[]) AND 'test' = ANY (coalesce(moved_receivers, '{}'))`
      expect(moved).toEqual([])
    }
  })
)
