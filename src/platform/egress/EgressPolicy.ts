// Targets and time limits of outgoing posts, as one value from configuration. The defaults are those of docs/threats.md
// 1.5; tests shorten them.
import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../AppConfig.ts"
import { hostOf } from "./EgressUrl.ts"

/** Limits of one attempt. Times in milliseconds, sizes in bytes. */
export interface EgressBudgets {
  readonly dnsMillis: number
  readonly connectMillis: number
  readonly tlsMillis: number
  /** The whole attempt, from resolving the name to the last byte of the response. */
  readonly totalMillis: number
  readonly headBytes: number
  /** The number of body bytes read before the connection is closed. */
  readonly bodyBytes: number
  /** The number of body bytes returned to the caller. */
  readonly shownBytes: number
  /** The time an idle connection waits for the next delivery: less than common servers' own limit. */
  readonly idleMillis: number
}

/** The budgets of docs/threats.md 1.5. */
export const defaultBudgets: EgressBudgets = {
  dnsMillis: 5_000,
  connectMillis: 5_000,
  tlsMillis: 5_000,
  totalMillis: 15_000,
  headBytes: 65_536,
  bodyBytes: 16_384,
  shownBytes: 2_048,
  idleMillis: 1_000
}

/** The rules for every outgoing request. */
export class EgressPolicy extends Context.Service<
  EgressPolicy,
  {
    /** Names and addresses of this deployment: never sent to. */
    readonly ownHosts: ReadonlyArray<string>
    /** Exact `host:port` that may be http and private; for development. */
    readonly allowedHosts: ReadonlyArray<string>
    readonly budgets: EgressBudgets
    /** PEM roots to trust instead of the platform's. */
    readonly certificateAuthorities?: ReadonlyArray<string>
  }
>()("quittance/platform/EgressPolicy") {
  /** A policy with the default budgets, except for those specified. */
  static readonly layerOf = (
    options: Omit<typeof EgressPolicy.Service, "budgets"> & {
      readonly budgets?: Partial<EgressBudgets>
    }
  ): Layer.Layer<EgressPolicy> =>
    Layer.succeed(EgressPolicy, { ...options, budgets: { ...defaultBudgets, ...options.budgets } })

  /** Protects BASE_URL's host; hosts in WEBHOOK_ALLOWED_HOSTS may be private. */
  static readonly layer: Layer.Layer<EgressPolicy, never, AppConfig> = Layer.unwrap(
    Effect.map(AppConfig, ({ baseUrl, webhookAllowedHosts }) =>
      EgressPolicy.layerOf({ ownHosts: [hostOf(new URL(baseUrl))], allowedHosts: webhookAllowedHosts })
    )
  )
}
