// An old report of a failed payment is repeated on one instance while another deletes old reports.
import { expect } from "bun:test"
import { Effect } from "effect"
import { liveEffect } from "../../support/run.ts"
import { twoInstances } from "./twoInstances.ts"

liveEffect("a repeated report is checked, even while old ones are being deleted", () =>
  Effect.gen(function* () {
    const { one, other, payment, paymentId, settlement, tenant, untilOneWaits } = yield* twoInstances
    const opened = (yield* payment).createdAt.getTime()
    const after = (seconds: number) => new Date(opened + seconds * 1_000)
    const report = (at: Date) =>
      one.repo.report({
        ...{ ...tenant, paymentId, evidence: settlement.evidence, payerType: "human" },
        ...{ at, nextCheckAt: at }
      })
    yield* report(after(1))
    const [held] = yield* other.repo.takeDueReports("test", after(2), after(60), 1)
    yield* other.repo.recordCheck(
      paymentId,
      settlement.evidence,
      { at: after(3), reason: "not_found" },
      { leaseUntil: held?.leaseUntil ?? after(0), nextCheckAt: null }
    )
    const ends = { test: after(90), live: after(90) }
    expect(
      yield* other.repo.expire({ openedBefore: ends, reportedBefore: after(90), at: after(90) })
    ).toEqual([{ id: paymentId, reason: "unverified" }])
    const pruned = yield* one.sql.withTransaction(
      Effect.gen(function* () {
        yield* report(after(100))
        const pruning = Effect.runPromise(other.repo.pruneReports(after(50), 10))
        yield* Effect.promise(untilOneWaits)
        return { pruning }
      })
    )
    expect(yield* Effect.promise(() => pruned.pruning)).toBe(0)
    const due = yield* other.repo.takeDueReports("test", after(101), after(160), 10)
    expect(due.map((one) => [one.payment.id, one.reportedAt])).toEqual([[paymentId, after(100)]])
  })
)
