// A payment expires on one instance while another accepts a signature for it: only one of them succeeds.
import { describe, expect } from "bun:test"
import { Context, Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { toHex } from "viem"
import { Address } from "../../../src/domain/Chain.ts"
import { networks } from "../../../src/domain/networks.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { SettlementRepo } from "../../../src/x402/Settlements/SettlementRepo.ts"
import { liveEffect } from "../../support/run.ts"
import { twoInstances } from "./twoInstances.ts"

const payer = Address.make("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
const held = 5_108_001

describe("A payment on Postgres expires or is reserved", () => {
  liveEffect("at once: either the sweep expires it or the signature reserves it, never both", () =>
    Effect.gen(function* () {
      const { one, other, payment, paymentId, tenant, untilOneWaits, watch } = yield* twoInstances
      const { amount, createdAt, receiver } = yield* payment
      const older = PaymentId.make(Bun.randomUUIDv7())
      yield* one.repo.open({
        ...{ ...tenant, id: older, amount, receiver, payerType: "human" },
        intentUrl: "https://shop.example.com/2",
        at: new Date(createdAt.getTime() - 1_000)
      })
      // The sweep waits at the older payment.
      yield* Effect.promise(async () => {
        await watch.unsafe(`
          CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(${held}); RETURN NEW; END';
          CREATE TRIGGER held BEFORE UPDATE ON payments FOR EACH ROW WHEN (OLD.id = '${older}')
            EXECUTE FUNCTION hold()`)
      })
      const settlements = Context.get(
        yield* Layer.build(
          Layer.fresh(SettlementRepo.layer).pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, other.sql)))
        ),
        SettlementRepo
      )
      const lock = yield* Effect.promise(() => watch.reserve())
      yield* Effect.promise(() => lock`SELECT pg_advisory_lock(${held})`)
      const later = new Date(createdAt.getTime() + 3_600_000)
      const expiring = yield* Effect.forkChild(
        one.repo.expire({ openedBefore: { test: later, live: later }, reportedBefore: later, at: later })
      )
      yield* Effect.promise(untilOneWaits)
      const id = crypto.randomUUID()
      const registering = yield* Effect.forkChild(
        Effect.result(
          settlements.register({
            id,
            ...tenant,
            paymentId,
            opensPayment: false,
            payerType: "human",
            chainId: networks.test.chainId,
            asset: networks.test.usdc.address,
            authorization: {
              ...{ from: payer, to: receiver, value: amount, validAfter: 0n, validBefore: 4_000_000_000n },
              nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
              signature: toHex(new Uint8Array(65).fill(17))
            },
            resource: "https://shop.example.com/1",
            movedBy: null,
            at: later,
            nextCheckAt: later
          })
        )
      )
      yield* Effect.sleep("300 millis")
      yield* Effect.promise(() => lock`SELECT pg_advisory_unlock(${held})`)
      lock.release()
      const failed = (yield* Fiber.join(expiring)).map((one) => one.id)
      const registered = yield* Fiber.join(registering)
      expect(failed).toContain(older)
      expect(failed.includes(paymentId)).toBe(!Result.isSuccess(registered))
      expect((yield* payment).status).toBe(Result.isSuccess(registered) ? "pending" : "failed")
    })
  )
})
