// The contract of settlement levels: how certain a payment's block must be before the payment settles, by amount.
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Finality } from "../../domain/Finality.ts"
import { UsdLimit } from "../../domain/Money.ts"
import { everyRole, ownerRoles } from "../../domain/roleSets.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth } from "../../platform/http/ApiKeyAuth.ts"
import { forKeys, type Mount } from "../../platform/http/Mount.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"

export const SettlementLevelList = Schema.Struct({
  levels: Schema.Array(
    Schema.Struct({
      finality: Finality.annotate({
        description:
          "`confirmed`: blocks lie on top. `included`: every node shows the block. `safe`, `finalized`: the nodes name the block with this tag."
      }),
      upTo: Schema.optionalKey(
        UsdLimit.annotate({
          description: "The largest amount that settles at this level; absent for the last."
        })
      ),
      operatorUpTo: Schema.optionalKey(
        UsdLimit.annotate({ description: "The operator's limit, which yours cannot exceed." })
      ),
      seconds: Schema.Int.annotate({ description: "About how long a block takes to reach the level." })
    })
  )
}).annotate({ identifier: "SettlementLevels" })
export type SettlementLevelList = typeof SettlementLevelList.Encoded

const ownLimit = Schema.optionalKey(
  Schema.NullOr(UsdLimit).annotate({
    description:
      "Your limit; `0` if nothing settles at this level, null for the operator's limit. Omitted, it stays."
  })
)

export const settlementLevelEndpoints = <Params extends Schema.Struct.Fields>({ access }: Mount<Params>) => ({
  retrieve: allow(
    access({ roles: everyRole }),
    HttpApiEndpoint.get("retrieve", "/settlement-levels", {
      success: SettlementLevelList
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Retrieve settlement levels",
        description: "How certain a payment's block must be before the payment settles, by amount, ascending."
      })
    )
  ),
  update: allow(
    access({ manage: true, roles: ownerRoles }),
    HttpApiEndpoint.patch("update", "/settlement-levels", {
      payload: Schema.Struct({ included: ownLimit, safe: ownLimit }),
      success: SettlementLevelList
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change settlement levels",
        description:
          "Sets stricter limits than the operator's. They apply to every payment that has not settled. Testnet has none."
      })
    )
  )
})

const { retrieve, update } = settlementLevelEndpoints(forKeys)

export class SettlementLevelsApi extends endpointGroup("settlementLevels")(retrieve, update)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({
      title: "Settlement levels",
      description: "How long a payment waits for the chain, by its amount."
    })
  ) {}
