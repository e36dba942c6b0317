// Settlement levels over HTTP.
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../app/Api.ts"
import type { Env } from "../../domain/Chain.ts"
import type { SettlementLevels } from "../../domain/Finality.ts"
import { formatUsd } from "../../domain/Money.ts"
import { jsonResponse } from "../../platform/http/jsonResponse.ts"
import { type Caller, type KeyParams, keyCaller, type RequestOf } from "../../platform/http/Mount.ts"
import type { SettlementLevelList, settlementLevelEndpoints } from "./Api.ts"
import { SettlementLimits } from "./SettlementLimits.ts"

type Endpoints = ReturnType<typeof settlementLevelEndpoints<KeyParams>>

export const settlementLevelHandlers = Effect.fnUntraced(function* <R>(
  caller: Effect.Effect<Caller, never, R>
) {
  const limits = yield* SettlementLimits

  const answer = (env: Env, levels: SettlementLevels) => {
    const operators = limits.operators(env)
    const list: SettlementLevelList = {
      levels: levels.map(({ finality, seconds, upTo }) => {
        const most = operators.find((level) => level.finality === finality)?.upTo ?? null
        return {
          finality,
          ...(upTo === null ? {} : { upTo: formatUsd(upTo) }),
          ...(most === null ? {} : { operatorUpTo: formatUsd(most) }),
          seconds
        }
      })
    }
    return jsonResponse(list)
  }

  return {
    retrieve: Effect.fnUntraced(function* () {
      const { env, tenant } = yield* caller
      return answer(env, yield* limits.levels(tenant))
    }),
    update: Effect.fnUntraced(function* ({ payload }: RequestOf<Endpoints["update"]>) {
      const { env, name, tenant } = yield* caller
      return answer(env, yield* limits.change(tenant, name, payload))
    })
  }
})

export const layer = HttpApiBuilder.group(
  Api,
  "settlementLevels",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll(yield* settlementLevelHandlers(keyCaller))
  })
)
