// The queues that a lease does not read from their beginning, and the times at which all are read in full.
import { expect, test } from "bun:test"
import { makeQueueStarts } from "../../../src/webhooks/DeliveryWorker/QueueStarts.ts"
import type { LeasedDelivery } from "../../../src/webhooks/WebhookRepo/WebhookStore.ts"

const due = (second: number) => new Date(second * 1000)

const leasedOf = (endpointId: string, count: number, wasDueAt = due(1)): ReadonlyArray<LeasedDelivery> =>
  Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    merchantId: "m" as LeasedDelivery["merchantId"],
    env: "test",
    leaseId: crypto.randomUUID(),
    leaseUntil: due(60),
    wasDueAt,
    type: "test",
    body: new Uint8Array(),
    order: null,
    isProven: true,
    attempt: 1,
    interruptions: 0,
    resentFrom: null,
    target: {
      endpointId,
      url: "https://shop.example.com/",
      secret: { kid: "k", ciphertext: new Uint8Array() }
    }
  }))

test("a queue is read from one second before its latest lease once a thousand deliveries are behind it", () => {
  const starts = makeQueueStarts()
  starts.recordLease(0, 0, leasedOf("a", 999, due(5)))
  expect(starts.of(1)).toEqual([])
  starts.recordLease(1, 1, leasedOf("a", 1, due(7)))
  starts.recordLease(2, 2, leasedOf("a", 1, due(6)))
  starts.recordLease(3, 3, leasedOf("b", 10))
  expect(starts.of(4)).toEqual([{ endpointId: "a", from: due(7 - 1) }])
})

test("if a full read finds an older delivery, the queue is read from there", () => {
  const starts = makeQueueStarts()
  starts.recordLease(0, 0, leasedOf("a", 1_000, due(500)))
  starts.recordLease(1, 1, leasedOf("a", 1, due(400)))
  expect(starts.of(2)).toEqual([{ endpointId: "a", from: due(500 - 1) }])
  starts.recordLease(1_000, 1_000, leasedOf("a", 1, due(300)))
  expect(starts.of(1_001)).toEqual([{ endpointId: "a", from: due(300 - 1) }])
})

test("the sixteen longest queues have a start", () => {
  const starts = makeQueueStarts()
  for (let n = 0; n < 20; n++) starts.recordLease(0, 0, leasedOf(String(n), 1_000 + n))
  expect(starts.of(1).map(({ endpointId }) => Number(endpointId))).toEqual(
    Array.from({ length: 16 }, (_, n) => 19 - n)
  )
})

test("all are read in full twenty times a second, less often if that is slow, and until it succeeds", () => {
  const starts = makeQueueStarts()
  starts.recordLease(0, 1, leasedOf("a", 1_000))
  expect(starts.of(50)).toHaveLength(1)
  expect(starts.of(51)).toEqual([])
  expect(starts.of(1_020)).toEqual([])
  starts.recordLease(1_020, 1_520, [])
  expect(starts.of(11_519)).toHaveLength(1)
  expect(starts.of(11_520)).toEqual([])
})

test("a queue without a lease for ten minutes is forgotten", () => {
  const starts = makeQueueStarts()
  starts.recordLease(0, 0, leasedOf("a", 1_000))
  starts.recordLease(600_000, 600_000, [])
  expect(starts.of(600_001)).toHaveLength(1)
  starts.recordLease(600_001, 600_001, [])
  expect(starts.of(600_002)).toEqual([])
})
