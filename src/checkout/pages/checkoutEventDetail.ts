// Reading the component's events in the hosted pages.

interface Detail {
  readonly paymentId: string | undefined
  readonly payment: { readonly intentUrl: string; readonly id: string } | undefined
  readonly state: string
}

const isDetail = (value: unknown): value is Detail =>
  typeof value === "object" && value !== null && "state" in value && typeof value.state === "string"

export const checkoutEventDetail = (event: Event): Detail | undefined =>
  event instanceof CustomEvent && isDetail(event.detail) ? event.detail : undefined
