// A merchant's own limits by finality level. They apply if they are stricter than the operator's.
import { Context, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { InvalidRequest } from "../../domain/Errors.ts"
import { type Finality, type SettlementLevels, stricterLevels } from "../../domain/Finality.ts"
import type { Tenant } from "../../domain/Merchant.ts"
import { formatUsd } from "../../domain/Money.ts"
import { networks } from "../../domain/networks.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { SettlementLimitRepo } from "./SettlementLimitRepo.ts"

/** Atomic USDC; null for the operator's limit. */
export type LimitChange = { readonly [F in Finality]?: bigint | null | undefined }

const make = Effect.gen(function* () {
  const repo = yield* SettlementLimitRepo
  const audit = yield* AuditLog
  const { settlementLevels } = yield* AppConfig

  const levels = Effect.fn("SettlementLimits.levels")(function* ({ env, merchantId }: Tenant) {
    const operators = settlementLevels[env]
    if (operators.every(({ upTo }) => upTo === null)) return operators
    return stricterLevels(operators, yield* repo.limits({ env, merchantId }))
  })

  /** The errors of a change, one per invalid field. */
  const details = (env: Tenant["env"], change: LimitChange) =>
    Object.entries(change).flatMap(([finality, upTo]) => {
      const path = `body.${finality}`
      const level = settlementLevels[env].find((operatorLevel) => operatorLevel.finality === finality)
      if (level === undefined || level.upTo === null)
        return [{ path, message: `Payments on ${networks[env].name} have no limit at this level.` }]
      return typeof upTo === "bigint" && upTo > level.upTo
        ? [{ path, message: `At most ${formatUsd(level.upTo)}, the operator's limit.` }]
        : []
    })

  const write = (tenant: Tenant, change: LimitChange) =>
    Effect.forEach(
      Object.entries(change),
      ([finality, upTo]) => (upTo === undefined ? Effect.void : repo.set(tenant, finality, upTo)),
      { discard: true }
    )

  const words = (all: SettlementLevels) =>
    all.flatMap(({ finality, upTo }) => (upTo === null ? [] : [`${finality} ${formatUsd(upTo)}`])).join(", ")

  return SettlementLimits.of({
    operators: (env) => settlementLevels[env],
    levels,
    change: Effect.fn("SettlementLimits.change")(function* (tenant, by, change) {
      const wrong = details(tenant.env, change)
      if (wrong.length > 0) return yield* new InvalidRequest({ details: wrong })
      const changing = Effect.gen(function* () {
        const before = words(yield* levels(tenant))
        yield* write(tenant, change)
        const after = yield* levels(tenant)
        return { before, after }
      })
      const { after } = yield* audit.recording(
        tenant.merchantId,
        { id: null, name: by },
        changing,
        ({ after, before }) =>
          words(after) === before
            ? Option.none()
            : Option.some({
                action: "settlement_limits.changed",
                env: tenant.env,
                summary: `changed the settlement limits from ${before} to ${words(after)}`
              })
      )
      return after
    })
  })
})

export class SettlementLimits extends Context.Service<
  SettlementLimits,
  {
    /** The operator's levels. */
    readonly operators: (env: Tenant["env"]) => SettlementLevels
    /** The levels at which the merchant's payments settle. */
    readonly levels: (tenant: Tenant) => Effect.Effect<SettlementLevels>
    /** Omitted levels stay. `by` is the author's name for the log. Returns the new levels. */
    readonly change: (
      tenant: Tenant,
      by: string,
      change: LimitChange
    ) => Effect.Effect<SettlementLevels, InvalidRequest>
  }
>()("quittance/merchants/SettlementLimits") {
  static readonly layer: Layer.Layer<SettlementLimits, never, SqlClient.SqlClient | AppConfig | AuditLog> =
    Layer.effect(SettlementLimits, make).pipe(Layer.provide(SettlementLimitRepo.layer))

  /** The operator's levels for everyone. */
  static readonly layerNone: Layer.Layer<SettlementLimits, never, AppConfig> = Layer.effect(
    SettlementLimits,
    Effect.map(AppConfig, ({ settlementLevels }) => ({
      operators: (env) => settlementLevels[env],
      levels: ({ env }) => Effect.succeed(settlementLevels[env]),
      change: ({ env }) => Effect.succeed(settlementLevels[env])
    }))
  )
}
