// The operator's link for a person who is a member already: the way back if the owner is gone.
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Role } from "../../../../src/domain/Role.ts"
import { liveEffect } from "../../../support/run.ts"
import { accounts, signedUp } from "./signedUp.ts"

const password = "a long enough password"

/** A merchant's owner, and another member of it. */
const shop = Effect.fnUntraced(function* (role: Role) {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* signedUp(password)
  const member = yield* signedUp(password)
  yield* sql`
    INSERT INTO merchant_members (merchant_id, user_id, role, created_at)
    VALUES (${owner.merchantId}, ${member.user.id}, ${role}, now())`
  const redeem = Effect.fnUntraced(function* (email: string, to: Role, invitedBy: string | null) {
    const token = yield* owner.people.createLink({
      ...{ email, merchantId: owner.merchantId, role: to, resetPassword: false, operator: false },
      invitedBy
    })
    const { session } = yield* owner.people.redeem(token, password)
    return session.merchants.find(({ id }) => id === owner.merchantId)?.role
  })
  const [last] = yield* sql`SELECT max(position)::int AS position FROM audit_entries`
  const begun = Number(last?.["position"])
  const told = sql`
    SELECT action, summary FROM audit_entries WHERE merchant_id = ${owner.merchantId} AND position > ${begun}
    ORDER BY position`
  return { member, owner, redeem, told }
})

describe("the operator's link to a merchant", () => {
  liveEffect("makes a member an owner, and notifies the others", () =>
    Effect.gen(function* () {
      const { member, redeem, told } = yield* shop("support")
      expect(yield* redeem(member.email, "owner", null)).toBe("owner")
      expect(yield* told).toEqual([
        { action: "member.role_changed", summary: "took the role owner through an operator's link" }
      ])
      // The second time nothing changes, and nobody is notified.
      expect(yield* redeem(member.email, "owner", null)).toBe("owner")
      expect(yield* told).toHaveLength(1)
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("does not lower an owner's role", () =>
    Effect.gen(function* () {
      const { owner, redeem, told } = yield* shop("support")
      expect(yield* redeem(owner.email, "read_only", null)).toBe("owner")
      expect(yield* told).toEqual([])
    }).pipe(Effect.provide(accounts))
  )

  liveEffect("differs from a member's invitation, which leaves the role", () =>
    Effect.gen(function* () {
      const { member, owner, redeem } = yield* shop("support")
      expect(yield* redeem(member.email, "owner", owner.user.id)).toBe("support")
    }).pipe(Effect.provide(accounts))
  )
})
