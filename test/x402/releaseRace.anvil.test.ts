// A settlement that is given up while its transaction is being stored counts as under way.
import { expect, setDefaultTimeout, test } from "bun:test"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { toHex } from "viem"
import { OutboxRepo } from "../../src/chain/wallets/OutboxRepo.ts"
import { Address } from "../../src/domain/Chain.ts"
import { PaymentId } from "../../src/domain/Payment.ts"
import { RelayerRepo } from "../../src/x402/Relayer/RelayerRepo.ts"
import { SettlementRepo } from "../../src/x402/Settlements/SettlementRepo.ts"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { openPayment, rowsOf } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)
const world = await x402World()

test("a settlement whose transaction has been stored reserves its payment and returns no refusal", async () => {
  const payment = PaymentId.make(await openPayment(world, "1"))
  const payer = Address.make((await world.payer()).address)
  const other = Address.make((await world.payer()).address)
  const wallet = Address.make((await world.payer(0n)).address)
  const sqlLayer = Layer.succeed(SqlClient.SqlClient, Context.get(world.context, SqlClient.SqlClient))
  const layer = Layer.mergeAll(SettlementRepo.layer, RelayerRepo.layer).pipe(
    Layer.provide(OutboxRepo.layer),
    Layer.provide(sqlLayer)
  )
  const hour = new Date(Date.now() + 3_600_000)
  const registered = (from: Address, id: string): Parameters<SettlementRepo["Service"]["register"]>[0] => ({
    id,
    merchantId: world.merchantId,
    env: world.env,
    paymentId: payment,
    opensPayment: false,
    payerType: "agent",
    chainId: moneyNetwork.chainId,
    asset: moneyNetwork.usdc.address,
    authorization: {
      ...{ from, to: receiver, value: 1_000_000n, validAfter: 0n, validBefore: 4_000_000_000n },
      nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
      signature: toHex(new Uint8Array(65).fill(17))
    },
    resource: world.baseUrl,
    movedBy: null,
    at: new Date(),
    nextCheckAt: hour
  })
  const id = crypto.randomUUID()
  const second = await Effect.runPromise(
    Effect.gen(function* () {
      const settlements = yield* SettlementRepo
      const relayer = yield* RelayerRepo
      yield* settlements.register(registered(payer, id))
      const signs = yield* Deferred.make<void>()
      // One caller's check of the chain succeeded: its transaction is signed and stored, under the locks.
      const sending = yield* Effect.forkChild(
        relayer.take(wallet, {
          purpose: "settle",
          reference: id,
          merchantId: world.merchantId,
          payer,
          gas: 100_000n,
          wei: 100_000n,
          maxFeePerGas: 1n,
          at: new Date(),
          chainNonce: 0,
          bounds: { merchant: 10n ** 12n, payer: 10n ** 12n, total: 10n ** 12n },
          onlyReserve: false,
          sign: () =>
            Deferred.succeed(signs, undefined).pipe(
              Effect.andThen(Effect.sleep("600 millis")),
              Effect.as(toHex(0x02f8))
            )
        })
      )
      yield* Deferred.await(signs)
      // Another caller's earlier check failed: it gives up at the same time.
      yield* settlements.release(id, "invalid_exact_evm_insufficient_balance")
      expect((yield* Fiber.join(sending))._tag).toBe("Created")
      // Another payer of the same payment.
      return yield* Effect.result(settlements.register(registered(other, crypto.randomUUID())))
    }).pipe(Effect.provide(layer))
  )
  const [row] = await rowsOf(
    world,
    `SELECT status, reserves, told_reason FROM x402_settlements WHERE id = '${id}'`
  )
  expect(row).toEqual({ status: "pending", reserves: true, told_reason: null })
  expect(second._tag).toBe("Failure")
})
