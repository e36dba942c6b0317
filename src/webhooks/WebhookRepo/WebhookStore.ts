// The interface of WebhookRepo and its guarantees, the same on Postgres and in memory.
import type { Effect, Option } from "effect"
import type { Tenant } from "../../domain/Merchant.ts"
import type { PaymentId } from "../../domain/Payment.ts"
import type {
  AttemptFailure,
  Delivery,
  DeliveryStatus,
  Endpoint,
  EventType,
  SettledDelivery
} from "../../domain/Webhook.ts"
import type { Sealed } from "../../platform/SecretBox.ts"

export interface NewEndpoint {
  readonly id: string
  readonly url: string
  readonly secret: Sealed
  readonly secretLastFour: string
}

/** The target of an attempt: the endpoint as it was when claimed. */
export interface Target {
  readonly endpointId: string
  readonly url: string
  readonly secret: Sealed
}

/** The claim: its holder, since when, and until when. */
export interface Claim {
  readonly claimId: string
  readonly at: Date
  readonly leaseUntil: Date
}

/** Which payment a delivery is about, and the URL of the merchant's order. */
export interface OrderOf {
  readonly paymentId: PaymentId
  readonly intentUrl: string
}

/** An event as it is delivered: its body, whatever became of its delivery. */
export interface StoredEvent {
  readonly id: string
  readonly body: Uint8Array
  /** Null for a test. */
  readonly paymentId: PaymentId | null
  /** The status of the delivery. */
  readonly status: DeliveryStatus
  readonly createdAt: Date
}

export interface EventPage {
  readonly limit: number
  /** The last event of the page before; the first page where absent. */
  readonly after: string | undefined
}

export interface ClaimedDelivery extends Tenant {
  readonly id: string
  readonly claimId: string
  readonly leaseUntil: Date
  /** The time at which it was due; for a test or a resend, the time of the claim. */
  readonly wasDueAt: Date
  readonly type: EventType
  readonly body: Uint8Array
  /** Null for a test. */
  readonly order: OrderOf | null
  /** True if its endpoint was proven when it was claimed. */
  readonly isProven: boolean
  /** The attempt about to be made, from 1. An interrupted attempt keeps its number. */
  readonly attempt: number
  /** The number of claims of this delivery that ended without an outcome. */
  readonly interruptions: number
  /** The delivery's status before a manual resend; null if it is no resend. */
  readonly resentFrom: DeliveryStatus | null
  readonly target: Target
}

/** The number of further attempts to one endpoint that may be claimed. */
export interface EndpointCapacity {
  readonly endpointId: string
  readonly capacity: number
  /** True if the endpoint accepted its last delivery; null if that is unknown here. */
  readonly accepts: boolean | null
}

/** The position from which a queue is read. Earlier deliveries are claimed, except those committed late. */
export interface QueueStart {
  readonly endpointId: string
  readonly from: Date
}

export interface DueClaim extends Claim {
  /** The process that claims. */
  readonly claimedBy: string
  readonly limit: number
  /** At most so many of them go to endpoints that are not proven. */
  readonly limitUnproven: number
  /** Capacity of every endpoint that `capacities` does not name. */
  readonly perEndpoint: number
  readonly capacities: ReadonlyArray<EndpointCapacity>
  /** The queues that are not read whole. */
  readonly queueStarts: ReadonlyArray<QueueStart>
}

/** Another process that sends, and how far it has counted. */
export interface OtherWorker {
  readonly id: string
  readonly beat: string
}

/** The outcome of one attempt, and the new state of its delivery. */
export interface AttemptResult {
  readonly claimed: ClaimedDelivery
  /** The end of the attempt. */
  readonly at: Date
  /** Null where nothing was sent. */
  readonly durationMs: number | null
  readonly responseStatus: number | null
  /** Null exactly where the receiver accepted. */
  readonly failure: AttemptFailure | null
  readonly responseBody: Uint8Array | null
  /** Request line and headers as sent; null where nothing was. */
  readonly requestHead: string | null
  readonly status: DeliveryStatus
  /** Set exactly where `status` is `pending`. */
  readonly dueAt: Date | null
}

export interface WebhookStore {
  readonly findEndpoint: (tenant: Tenant) => Effect.Effect<Option.Option<Endpoint>>
  /**
   * None where the environment has an active endpoint already. What waited for one that was deleted less than a day
   * before goes to it.
   */
  readonly createEndpoint: (
    tenant: Tenant,
    endpoint: NewEndpoint,
    at: Date
  ) => Effect.Effect<Option.Option<Endpoint>>
  /** Changes the url and forgets what was known of the old one. None where there is no endpoint. */
  readonly changeUrl: (tenant: Tenant, url: string, at: Date) => Effect.Effect<Option.Option<Endpoint>>
  /** Stores a new encrypted secret; pending deliveries are signed with it from now on. */
  readonly replaceSecret: (
    tenant: Tenant,
    endpointId: string,
    secret: Pick<NewEndpoint, "secret" | "secretLastFour">,
    at: Date
  ) => Effect.Effect<Option.Option<Endpoint>>
  /**
   * Deletes the endpoint and cancels its waiting deliveries, of a long queue the rest as it comes due; what
   * is in flight is recorded when it ends and not tried again. A resend that was not sent leaves its delivery as
   * it found it. False where there is none.
   */
  readonly deleteEndpoint: (tenant: Tenant, at: Date) => Effect.Effect<boolean>
  /** Queues `payment.settled`; settlement in SQL does the same inside its own statement. */
  readonly enqueueSettled: (
    tenant: Tenant & Pick<OrderOf, "intentUrl">,
    paymentId: PaymentId,
    delivery: SettledDelivery,
    at: Date
  ) => Effect.Effect<void>
  /** Queues a test delivery, claimed already. None where there is no endpoint. */
  readonly claimTest: (
    tenant: Tenant,
    delivery: SettledDelivery,
    claim: Claim
  ) => Effect.Effect<Option.Option<ClaimedDelivery>>
  /**
   * Claims a finished delivery for one more attempt, to the tenant's endpoint of today.
   * None where it is unknown or still waiting, or there is no endpoint.
   */
  readonly claimResend: (
    tenant: Tenant,
    deliveryId: string,
    claim: Claim
  ) => Effect.Effect<Option.Option<ClaimedDelivery>>
  /**
   * Claims due deliveries, those to proven endpoints first, then oldest first, within each
   * endpoint's capacity, and writes their attempt
   * rows before anything is sent. Due deliveries whose endpoint is gone are cancelled instead, beside those
   * that are claimed.
   */
  readonly claimDue: (claim: DueClaim) => Effect.Effect<ReadonlyArray<ClaimedDelivery>>
  /**
   * Records outcomes, each under its claim, and answers what became of those deliveries;
   * a result whose claim was lost is missing from the answer. An exhausted one raises its alert
   * in the same statement.
   */
  readonly finish: (
    results: ReadonlyArray<AttemptResult>
  ) => Effect.Effect<ReadonlyArray<{ readonly id: string; readonly status: DeliveryStatus }>>
  /** Counts the process up that sends; answers the others. */
  readonly heartbeat: (workerId: string) => Effect.Effect<ReadonlyArray<OtherWorker>>
  /**
   * Removes a worker whose heartbeat has stopped, and returns the number of its deliveries. They are due at `at` if
   * their lease ends before `leasedBefore`, or after `leasedAfter` because its clock was ahead.
   */
  readonly takeOverDead: (
    worker: OtherWorker,
    claims: { readonly at: Date; readonly leasedBefore: Date; readonly leasedAfter: Date }
  ) => Effect.Effect<number>
  readonly deregister: (workerId: string) => Effect.Effect<void>
  /** Gives claims back unsent, due at once; no interruption is counted. */
  readonly release: (
    claimed: ReadonlyArray<Pick<ClaimedDelivery, "id" | "claimId">>,
    at: Date
  ) => Effect.Effect<void>
  readonly findDelivery: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<Delivery>>
  /** The delivery that a payment's settlement queued, with the body it sends. */
  readonly findOfPayment: (
    tenant: Tenant,
    paymentId: PaymentId
  ) => Effect.Effect<Option.Option<{ readonly delivery: Delivery; readonly body: Uint8Array }>>
  readonly findEvent: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<StoredEvent>>
  /**
   * The tenant's events, in one order for every reader: what is committed later comes after all that
   * was read before. None where `after` is not an event of the tenant.
   */
  readonly listEvents: (
    tenant: Tenant,
    page: EventPage
  ) => Effect.Effect<
    Option.Option<{ readonly events: ReadonlyArray<StoredEvent>; readonly hasMore: boolean }>
  >
  readonly listDeliveries: (tenant: Tenant, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
  /**
   * Deletes at most `limit` attempts started before `before`, with their answers; deliveries stay,
   * and so do the attempts of those that still wait. Answers how many went.
   */
  readonly prune: (before: Date, limit: number) => Effect.Effect<number>
}
