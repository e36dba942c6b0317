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

/** The target of an attempt: the endpoint as it was when leased. */
export interface Target {
  readonly endpointId: string
  readonly url: string
  readonly secret: Sealed
}

/** A lease: its id, its start and its end. */
export interface Lease {
  readonly leaseId: string
  readonly at: Date
  readonly leaseUntil: Date
}

/** The payment of a delivery, and the URL of the merchant's order. */
export interface OrderOf {
  readonly paymentId: PaymentId
  readonly intentUrl: string
}

/** An event as it is delivered, with its delivery's status. */
export interface StoredEvent {
  readonly id: string
  readonly body: Uint8Array
  /** Null for a test event. */
  readonly paymentId: PaymentId | null
  /** The status of the delivery. */
  readonly status: DeliveryStatus
  readonly createdAt: Date
}

export interface EventPage {
  readonly limit: number
  /** The last event of the previous page; undefined for the first page. */
  readonly after: string | undefined
}

export interface LeasedDelivery extends Tenant {
  readonly id: string
  readonly leaseId: string
  readonly leaseUntil: Date
  /** The time at which it was due; for a test or a resend, the time of the lease. */
  readonly wasDueAt: Date
  readonly type: EventType
  readonly body: Uint8Array
  /** Null for a test event. */
  readonly order: OrderOf | null
  /** True if its endpoint was proven when it was leased. */
  readonly isProven: boolean
  /** The attempt about to be made, from 1. An interrupted attempt keeps its number. */
  readonly attempt: number
  /** The number of leases of this delivery that ended without an outcome. */
  readonly interruptions: number
  /** The delivery's status before a manual resend; null if it is not a resend. */
  readonly resentFrom: DeliveryStatus | null
  readonly target: Target
}

/** The number of further attempts to one endpoint that may be leased. */
export interface EndpointCapacity {
  readonly endpointId: string
  readonly capacity: number
  /** True if the endpoint accepted its last delivery; null if that is unknown here. */
  readonly accepts: boolean | null
}

/** The position from which a queue is read. Earlier deliveries are leased, except those committed late. */
export interface QueueStart {
  readonly endpointId: string
  readonly from: Date
}

export interface DueLease extends Lease {
  /** The id of the leasing process. */
  readonly leasedBy: string
  readonly limit: number
  /** The maximum number of leases for unproven endpoints. */
  readonly limitUnproven: number
  /** The capacity of every endpoint that is not in `capacities`. */
  readonly perEndpoint: number
  readonly capacities: ReadonlyArray<EndpointCapacity>
  /** The queues that are not read completely. */
  readonly queueStarts: ReadonlyArray<QueueStart>
}

/** Another sending process, with its heartbeat counter. */
export interface OtherWorker {
  readonly id: string
  readonly heartbeat: string
}

/** The outcome of one attempt, and the new state of its delivery. */
export interface AttemptResult {
  readonly delivery: LeasedDelivery
  /** The end of the attempt. */
  readonly at: Date
  /** Null if nothing was sent. */
  readonly durationMs: number | null
  readonly responseStatus: number | null
  /** Null if and only if the endpoint accepted the delivery. */
  readonly failure: AttemptFailure | null
  readonly responseBody: Uint8Array | null
  /** Request line and headers as sent; null if nothing was sent. */
  readonly requestHead: string | null
  readonly status: DeliveryStatus
  /** Set if and only if `status` is `pending`. */
  readonly dueAt: Date | null
}

export interface WebhookStore {
  readonly findEndpoint: (tenant: Tenant) => Effect.Effect<Option.Option<Endpoint>>
  /**
   * None if the environment already has an active endpoint. Deliveries that waited for an endpoint deleted
   * within the last day go to the new one.
   */
  readonly createEndpoint: (
    tenant: Tenant,
    endpoint: NewEndpoint,
    at: Date
  ) => Effect.Effect<Option.Option<Endpoint>>
  /** Changes the URL and resets what was known about the old one. None if there is no endpoint. */
  readonly changeUrl: (tenant: Tenant, url: string, at: Date) => Effect.Effect<Option.Option<Endpoint>>
  /** Stores a new encrypted secret; pending deliveries are signed with it from now on. */
  readonly replaceSecret: (
    tenant: Tenant,
    endpointId: string,
    secret: Pick<NewEndpoint, "secret" | "secretLastFour">,
    at: Date
  ) => Effect.Effect<Option.Option<Endpoint>>
  /**
   * Deletes the endpoint and cancels its pending deliveries; in a long queue, the rest is cancelled as it
   * comes due. Attempts in flight are recorded and not retried. An unsent resend leaves its delivery
   * unchanged. False if there is no endpoint.
   */
  readonly deleteEndpoint: (tenant: Tenant, at: Date) => Effect.Effect<boolean>
  /** Queues `payment.settled`; settlement in SQL does the same inside its own statement. */
  readonly enqueueSettled: (
    tenant: Tenant & Pick<OrderOf, "intentUrl">,
    paymentId: PaymentId,
    delivery: SettledDelivery,
    at: Date
  ) => Effect.Effect<void>
  /** Queues a test delivery that is already leased. None if there is no endpoint. */
  readonly leaseTest: (
    tenant: Tenant,
    delivery: SettledDelivery,
    lease: Lease
  ) => Effect.Effect<Option.Option<LeasedDelivery>>
  /**
   * Leases a finished delivery for one more attempt, to the tenant's current endpoint. None if it is unknown
   * or still pending, or there is no endpoint.
   */
  readonly leaseResend: (
    tenant: Tenant,
    deliveryId: string,
    lease: Lease
  ) => Effect.Effect<Option.Option<LeasedDelivery>>
  /**
   * Leases due deliveries within each endpoint's capacity: those to proven endpoints first, then the oldest
   * first. Writes their attempt rows before anything is sent. Due deliveries of a deleted endpoint are
   * cancelled in addition.
   */
  readonly leaseDue: (lease: DueLease) => Effect.Effect<ReadonlyArray<LeasedDelivery>>
  /**
   * Records outcomes, each under its lease, and returns the deliveries' new status; results whose lease was
   * lost are left out. A delivery that failed permanently raises its alert in the same statement.
   */
  readonly finish: (
    results: ReadonlyArray<AttemptResult>
  ) => Effect.Effect<ReadonlyArray<{ readonly id: string; readonly status: DeliveryStatus }>>
  /** Increments this sending process's counter; returns the other processes. */
  readonly heartbeat: (workerId: string) => Effect.Effect<ReadonlyArray<OtherWorker>>
  /**
   * Removes a worker whose heartbeat has stopped, and returns the number of its deliveries. They are due at `at` if
   * their lease ends before `leasedBefore`, or after `leasedAfter` because its clock was ahead.
   */
  readonly takeOverDead: (
    worker: OtherWorker,
    leases: { readonly at: Date; readonly leasedBefore: Date; readonly leasedAfter: Date }
  ) => Effect.Effect<number>
  readonly deregister: (workerId: string) => Effect.Effect<void>
  /** Ends the leases of unsent deliveries, which are due at once. Does not count as an interruption. */
  readonly release: (
    leases: ReadonlyArray<Pick<LeasedDelivery, "id" | "leaseId">>,
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
   * The tenant's events, in the same order for every reader: an event that commits later follows all events
   * read before. None if `after` is not one of the tenant's events.
   */
  readonly listEvents: (
    tenant: Tenant,
    page: EventPage
  ) => Effect.Effect<
    Option.Option<{ readonly events: ReadonlyArray<StoredEvent>; readonly hasMore: boolean }>
  >
  readonly listDeliveries: (tenant: Tenant, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
  /**
   * Deletes at most `limit` attempts started before `before`, with their responses. Keeps deliveries, and the
   * attempts of pending ones. Returns the number of deleted attempts.
   */
  readonly prune: (before: Date, limit: number) => Effect.Effect<number>
}
