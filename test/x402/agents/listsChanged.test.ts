// An agent's lists change while it requests a signature: no signature against the lists is made after the change.
import { expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Address } from "../../../src/domain/Chain.ts"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { Agents } from "../../../src/x402/agents/Agents.ts"
import { testDatabase } from "../../support/database.ts"
import { overtaken } from "../../support/overtaken.ts"
import { liveEffect } from "../../support/run.ts"
import { startService } from "../../support/service.ts"
import { requirementsV2 } from "../x402World.ts"

setDefaultTimeout(150_000)

const payee = Address.make("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
const other = Address.make("0x90F79bf6EB2c4f870365E785982E1f101E93b906")

for (const [what, change, code] of [
  ["payees", { allowedPayees: [other] }, "AGENT_PAYEE_NOT_ALLOWED"],
  ["hosts", { allowedHosts: ["api.example.org"] }, "AGENT_HOST_NOT_ALLOWED"],
  ["lists that still allow the payment", { allowedPayees: [other, payee] }, "signed"]
] as const)
  liveEffect(`${what} that change during a request apply to signatures made after it: ${code}`, () =>
    Effect.gen(function* () {
      const service = yield* startService(testDatabase)
      const agents = Context.get(service.context, Agents)
      const merchant = yield* service.newMerchant
      const merchantId = MerchantId.make(merchant.id)
      const { agent, key } = yield* agents.provision({
        merchantId,
        env: "test",
        name: "Agent",
        capPerPayment: AtomicUsdc.make(5_000_000n),
        capPerDay: AtomicUsdc.make(20_000_000n),
        allowedHosts: null,
        allowedPayees: null
      })
      const principal = yield* service.auth.authenticate(key)
      const sql = Context.get(service.context, SqlClient.SqlClient)
      const outcome = yield* overtaken(
        sql`SELECT id FROM agents WHERE id = ${agent.id} FOR UPDATE`,
        agents.sign(principal, {
          requestId: "one",
          resource: "https://api.example.com/weather",
          version: 2,
          accepts: [requirementsV2(1n, { payTo: payee })],
          described: { resource: undefined, extensions: undefined }
        }),
        agents.change(merchantId, agent.id, change)
      ).pipe(Effect.provideContext(service.context))
      expect<string>(Result.isSuccess(outcome) ? "signed" : outcome.failure.code).toBe(code)
      expect(yield* agents.payments(agent.id, 20)).toHaveLength(code === "signed" ? 1 : 0)
    })
  )
