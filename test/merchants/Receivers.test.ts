// Receiving addresses beyond the API: contract wallets as owners, and merchants that shared an address before addresses
// had owners.
import { describe, expect } from "bun:test"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { hashMessage } from "viem"
import { ContractSignatures } from "../../src/chain/ContractSignatures.ts"
import { AuditLog, operator } from "../../src/merchants/audit/AuditLog.ts"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { MerchantRepo } from "../../src/merchants/MerchantRepo.ts"
import { ReceiverChangeRepo } from "../../src/merchants/ReceiverChangeRepo.ts"
import { Receivers } from "../../src/merchants/Receivers.ts"
import { AppConfig } from "../../src/platform/AppConfig.ts"
import { testDatabase } from "../support/database.ts"
import { freshAddress } from "../support/freshAddress.ts"
import { liveEffect } from "../support/run.ts"

describe("Receivers on Postgres", () => {
  const database = testDatabase
  describe("contract wallets", () => {
    liveEffect("the chain verifies a signature that no key of the address made", () =>
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
})
