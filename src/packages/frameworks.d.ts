// The parts of React and Medusa that the wrappers use. Each project installs the frameworks itself.
declare module "react" {
  export interface ReactElement {
    readonly type: unknown
    readonly props: unknown
    readonly key: string | null
  }
  interface Ref<T> {
    current: T
  }
  export function useRef<T>(initial: T): Ref<T>
  export function useRef<T>(initial: T | null): Ref<T | null>
  export function useEffect(effect: () => (() => void) | undefined, inputs: ReadonlyArray<unknown>): void
  export function createElement(type: string, props: Readonly<Record<string, unknown>>): ReactElement
}

declare module "@medusajs/framework/types" {
  export type BigNumberInput = string | number
  export type PaymentSessionStatus =
    | "authorized"
    | "captured"
    | "pending"
    | "requires_more"
    | "error"
    | "canceled"
  export interface PaymentProviderInput {
    readonly data?: Record<string, unknown>
    /** The key is the id of the Medusa object, for example of a refund. */
    readonly context?: { readonly idempotency_key?: string }
  }
  export interface PaymentProviderOutput {
    readonly data?: Record<string, unknown>
  }
  export interface InitiatePaymentInput extends PaymentProviderInput {
    readonly amount: BigNumberInput
    readonly currency_code: string
  }
  export interface InitiatePaymentOutput extends PaymentProviderOutput {
    readonly id: string
    readonly status?: PaymentSessionStatus
  }
  export type AuthorizePaymentInput = PaymentProviderInput
  export interface AuthorizePaymentOutput extends PaymentProviderOutput {
    readonly status: PaymentSessionStatus
  }
  export interface RefundPaymentInput extends PaymentProviderInput {
    readonly amount: BigNumberInput
  }
  export interface ProviderWebhookPayload {
    readonly payload: {
      readonly rawData: string | Uint8Array
      readonly headers: Record<string, unknown>
    }
  }
  export interface WebhookActionResult {
    readonly action: "captured" | "not_supported"
    readonly data?: { readonly session_id: string; readonly amount: BigNumberInput }
  }
}

declare module "@medusajs/framework/utils" {
  import type { BigNumberInput } from "@medusajs/framework/types"
  export abstract class AbstractPaymentProvider<Options> {
    static readonly identifier: string
    static validateOptions(options: Record<string, unknown>): void
    constructor(cradle: Record<string, unknown>, options: Options)
  }
  export const MathBN: {
    readonly convert: (amount: BigNumberInput) => { readonly toFixed: (digits: number) => string }
  }
  export const Modules: { readonly PAYMENT: "payment" }
  export const ModuleProvider: (
    module: string,
    provider: { readonly services: ReadonlyArray<unknown> }
  ) => unknown
}
