// Endpoints, deliveries and attempts at rest. A delivery is claimed under a lease
// with a fresh claim id and finished only under that id, so that a worker that
// wakes up late overwrites nothing.
import { Context, type Effect, Layer, type Option } from "effect"
import type { PaymentId } from "../domain/Payment.ts"
import type { Delivery, DeliveryStatus, Endpoint, EventType } from "../domain/Webhook.ts"
import type { Sealed } from "../keys/SecretBox.ts"
import type { SettledDelivery, Tenant } from "../payments/PaymentRepo.ts"
import { layerMemory } from "./WebhookRepoMemory.ts"
import { layerSql } from "./WebhookRepoSql.ts"

export interface NewEndpoint {
  readonly id: string
  readonly url: string
  readonly secret: Sealed
  readonly secretLastFour: string
}

/** Where an attempt goes, as the endpoint stood when it was claimed. */
export interface Target {
  readonly endpointId: string
  readonly url: string
  readonly secret: Sealed
}

export interface ClaimedDelivery extends Tenant {
  readonly id: string
  readonly claimId: string
  readonly type: EventType
  readonly body: Uint8Array
  /** The attempt about to be made, from 1. An interrupted attempt keeps its number. */
  readonly attempt: number
  /** How often a claim ended without an outcome. */
  readonly interruptions: number
  /** None where the endpoint has been deleted. */
  readonly target: Option.Option<Target>
}

/** What one attempt gave and what becomes of its delivery. */
export interface AttemptResult {
  readonly claimed: ClaimedDelivery
  readonly at: Date
  readonly durationMs: number
  readonly responseStatus: number | null
  readonly failure: string | null
  readonly responseBody: Uint8Array | null
  readonly status: DeliveryStatus
  /** Set exactly where `status` is `pending`. */
  readonly dueAt: Date | null
}

export class WebhookRepo extends Context.Service<
  WebhookRepo,
  {
    readonly findEndpoint: (tenant: Tenant) => Effect.Effect<Option.Option<Endpoint>>
    /** None where the environment has an active endpoint already. */
    readonly createEndpoint: (
      tenant: Tenant,
      endpoint: NewEndpoint,
      at: Date
    ) => Effect.Effect<Option.Option<Endpoint>>
    /** Changes the url and forgets what was known of the old one. None where there is no endpoint. */
    readonly changeUrl: (tenant: Tenant, url: string, at: Date) => Effect.Effect<Option.Option<Endpoint>>
    /** Seals a new secret in; waiting deliveries are signed with it from now on. */
    readonly replaceSecret: (
      tenant: Tenant,
      endpointId: string,
      secret: Pick<NewEndpoint, "secret" | "secretLastFour">,
      at: Date
    ) => Effect.Effect<Option.Option<Endpoint>>
    /** Deletes the endpoint and cancels its waiting deliveries. False where there is none. */
    readonly deleteEndpoint: (tenant: Tenant, at: Date) => Effect.Effect<boolean>
    /** Queues `payment.settled`; settlement in SQL does the same inside its own statement. */
    readonly enqueueSettled: (
      tenant: Tenant,
      paymentId: PaymentId,
      delivery: SettledDelivery,
      at: Date
    ) => Effect.Effect<void>
    /** Queues a test delivery, claimed already. None where there is no endpoint. */
    readonly claimTest: (
      tenant: Tenant,
      delivery: SettledDelivery,
      claim: { readonly claimId: string; readonly at: Date; readonly leaseUntil: Date }
    ) => Effect.Effect<Option.Option<ClaimedDelivery>>
    /** Claims a finished delivery for one more attempt. None where it is unknown or still waiting. */
    readonly claimResend: (
      tenant: Tenant,
      deliveryId: string,
      claim: { readonly claimId: string; readonly at: Date; readonly leaseUntil: Date }
    ) => Effect.Effect<Option.Option<ClaimedDelivery>>
    /**
     * Claims due deliveries, oldest first, at most `perEndpoint` of a tenant and none of the
     * `busy` tenants, and writes their attempt rows before anything is sent.
     */
    readonly claimDue: (claim: {
      readonly claimId: string
      readonly at: Date
      readonly leaseUntil: Date
      readonly limit: number
      readonly perEndpoint: number
      readonly busy: ReadonlyArray<Tenant>
    }) => Effect.Effect<ReadonlyArray<ClaimedDelivery>>
    /** Records an attempt's outcome under its claim. False where the claim was lost. */
    readonly finish: (result: AttemptResult) => Effect.Effect<boolean>
    /** Gives claims back unsent, due at once. */
    readonly release: (
      claimed: ReadonlyArray<Pick<ClaimedDelivery, "id" | "claimId">>,
      at: Date
    ) => Effect.Effect<void>
    readonly findDelivery: (tenant: Tenant, id: string) => Effect.Effect<Option.Option<Delivery>>
    readonly listDeliveries: (tenant: Tenant, limit: number) => Effect.Effect<ReadonlyArray<Delivery>>
    /** Deletes attempts started before `before`; deliveries stay. Answers how many. */
    readonly prune: (before: Date) => Effect.Effect<number>
  }
>()("quittance/webhooks/WebhookRepo") {
  static readonly layer = Layer.suspend(() => layerSql)
  static readonly layerMemory = Layer.suspend(() => layerMemory)
}
