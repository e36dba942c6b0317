// A wallet's signatures show which payment a transfer of it may be meant for, however many there are.

import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { toBytes } from "../../../src/chain/ChainBytes.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { networks } from "../../../src/domain/networks.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import { liveEffect } from "../../support/run.ts"
import { withoutMoves } from "../../support/withoutMoves.ts"
import { twoInstances } from "./twoInstances.ts"

const { chainId, usdc } = networks.test

liveEffect("the payment that an agent has signed comes before equal ones, whatever else it has signed", () =>
  Effect.gen(function* () {
    const { one, payment, paymentId, read, tenant, transfer } = yield* twoInstances
    const { repo, transferRepo, sql } = one
    const { amount, createdAt, receiver } = yield* payment
    yield* read()
    const sent = yield* transfer
    const payer = toBytes(sent.payer)
    const signed = (of: string, payments: number) =>
      withoutMoves(sql`
      INSERT INTO x402_settlements (id, merchant_id, env, payment_id, opens_payment, chain_id, asset, payer, nonce,
        receiver, amount, valid_after, valid_before, signature, resource, status, error_reason, created_at)
      SELECT gen_random_uuid(), ${tenant.merchantId}, 'test',
        CASE WHEN ${payments}::integer = 1 THEN ${of}::uuid ELSE gen_random_uuid() END, true, ${chainId},
        ${toBytes(usdc.address)}, ${payer},
        -- The one that counts is the last of them.
        decode(CASE WHEN ${payments}::integer = 1 THEN 'ff' ELSE '00' END || lpad(n::text, 62, '0'), 'hex'),
        ${toBytes(receiver)}, ${amount.toString()}::numeric, 0, 1, '', '', 'failed',
        'invalid_exact_evm_payload_authorization_valid_before', ${createdAt}
      FROM generate_series(1, ${payments}::integer) AS n`).pipe(
        Effect.provideService(SqlClient.SqlClient, sql)
      )
    yield* signed(paymentId, 3_000)
    yield* signed(paymentId, 1)
    // Others' carts, all of the same price and newer.
    for (let cart = 1; cart <= 12; cart++)
      yield* repo.open({
        ...tenant,
        id: PaymentId.make(Bun.randomUUIDv7()),
        amount: AtomicUsdc.make(amount),
        intentUrl: "https://shop.example.com/2",
        receiver,
        payerType: "agent",
        at: new Date(createdAt.getTime() + cart)
      })
    const [first] = yield* transferRepo.likelyPayments(sent)
    expect(first?.payment.id).toBe(paymentId)
    expect(first?.reasons.toSorted()).toEqual(["amount", "announced"])
  })
)
