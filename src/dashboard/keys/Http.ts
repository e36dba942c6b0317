// API keys over HTTP. A whole key leaves in one answer, once; the other
// environment's keys are as unknown here as another merchant's.
import { Effect, Option } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { ApiKey } from "../../domain/Merchant.ts"
import { KeyAuth } from "../../keys/KeyAuth.ts"
import { DashboardApi } from "../Api.ts"
import { AlertPagesRepo } from "../alerts/AlertPagesRepo.ts"
import { CurrentMember, type Member } from "../Session.ts"
import { unknownObject } from "../unknownObject.ts"
import type { KeysPage, KeyView } from "./Api.ts"

const keyView = (key: ApiKey): ReadonlyArray<KeyView> =>
  key.kind === "agent"
    ? []
    : [
        {
          id: key.id,
          kind: key.kind,
          permission: key.permission,
          prefix: key.prefix,
          lastFour: key.lastFour,
          createdAt: key.createdAt.toISOString(),
          lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
          revokedAt: key.revokedAt?.toISOString() ?? null
        }
      ]

/** Current keys first, each part newest first. */
const inOrder = (left: KeyView, right: KeyView) =>
  Number(left.revokedAt !== null) - Number(right.revokedAt !== null) ||
  right.createdAt.localeCompare(left.createdAt)

export const layer = HttpApiBuilder.group(
  DashboardApi,
  "keyPages",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* KeyAuth
    const alerts = yield* AlertPagesRepo

    const listed = ({ tenant }: Member) =>
      Effect.map(keys.listKeys(tenant.merchantId), (all) =>
        all.filter(({ env }) => env === tenant.env).flatMap(keyView)
      )
    /** The tenant of a current key of its own. */
    const owner = Effect.fnUntraced(function* (keyId: string) {
      const member = yield* CurrentMember
      const key = (yield* listed(member)).find(({ id }) => id === keyId)
      if (key === undefined || key.revokedAt !== null) return yield* new NotFound({ message: unknownObject })
      return member.tenant.merchantId
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const member = yield* CurrentMember
        const [found, openAlerts] = yield* Effect.all([listed(member), alerts.countOpen(member.tenant)], {
          concurrency: 2
        })
        const page: KeysPage = { openAlerts, keys: found.toSorted(inOrder) }
        return HttpServerResponse.jsonUnsafe(page)
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { tenant } = yield* CurrentMember
        if (payload.kind === "publishable" && payload.permission === "manage") {
          return yield* new InvalidRequest({
            details: [
              { path: "body.permission", message: "A publishable key is never full-access: send `read`." }
            ]
          })
        }
        return yield* keys.createKey(tenant.merchantId, { ...payload, env: tenant.env })
      }),
      rotate: Effect.fnUntraced(function* ({ params }) {
        const issued = yield* keys.rotateKey(yield* owner(params.keyId), params.keyId)
        if (Option.isNone(issued)) return yield* new NotFound({ message: unknownObject })
        return issued.value
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        if (!(yield* keys.revokeKey(yield* owner(params.keyId), params.keyId)))
          return yield* new NotFound({ message: unknownObject })
      })
    })
  })
)
