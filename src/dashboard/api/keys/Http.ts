// API keys over HTTP. A secret key is in only one response. Keys of the other environment are unknown here, like those
// of another merchant.

import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { invalidField, NotFound } from "../../../domain/Errors.ts"
import type { ApiKey } from "../../../domain/Merchant.ts"
import { isTest } from "../../../domain/networks.ts"
import { KeyAuth } from "../../../merchants/keys/KeyAuth.ts"
import { keyInWords } from "../../../merchants/keys/keyInWords.ts"
import { DashboardApi } from "../Api.ts"
import { makeRecording } from "../makeRecording.ts"
import { recentPassword } from "../recentPassword.ts"
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
          name: key.name,
          publicKey: key.publicKey,
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
    const recorded = yield* makeRecording

    const keysOf = ({ tenant }: Member) =>
      Effect.map(keys.listKeys(tenant.merchantId), (all) =>
        all.filter(({ env }) => env === tenant.env).flatMap(keyView)
      )
    /** A current key of the merchant in this environment. */
    const current = Effect.fnUntraced(function* (keyId: string) {
      const member = yield* CurrentMember
      const key = (yield* keysOf(member)).find(({ id }) => id === keyId)
      if (key === undefined || key.revokedAt !== null) return yield* new NotFound({ message: unknownObject })
      return key
    })

    /** A change of keys, recorded in the audit log. */
    const recording = Effect.fnUntraced(function* <A, E, R>(
      change: Effect.Effect<A, E, R>,
      action: "key.created" | "key.rotated" | "key.revoked",
      summary: string,
      isChanged: (outcome: A) => boolean,
      quiet: boolean
    ) {
      const { tenant } = yield* CurrentMember
      return yield* recorded(change, (outcome) =>
        isChanged(outcome) ? Option.some({ action, env: tenant.env, summary, quiet }) : Option.none()
      )
    })

    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const member = yield* CurrentMember
        const page: KeysPage = { keys: (yield* keysOf(member)).toSorted(inOrder) }
        return page
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const { tenant } = yield* CurrentMember
        if (payload.kind === "publishable" && payload.permission === "manage") {
          return yield* invalidField(
            "body.permission",
            "A publishable key is never full-access: send `read`."
          )
        }
        if (payload.permission === "manage" || !isTest(tenant.env)) yield* recentPassword
        return yield* recording(
          keys.createKey(tenant.merchantId, { ...payload, env: tenant.env }),
          "key.created",
          `created a ${keyInWords(payload)}`,
          () => true,
          payload.permission !== "manage"
        )
      }),
      rename: Effect.fnUntraced(function* ({ params, payload }) {
        const { tenant } = yield* CurrentMember
        const key = yield* current(params.keyId)
        if (!(yield* keys.nameKey(tenant.merchantId, key.id, payload.name)))
          return yield* new NotFound({ message: unknownObject })
      }),
      rotate: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const key = yield* current(params.keyId)
        if (key.permission === "manage" || !isTest(tenant.env)) yield* recentPassword
        const issued = yield* recording(
          keys.rotateKey(tenant.merchantId, key.id),
          "key.rotated",
          `rotated a ${keyInWords(key)}, ${key.prefix}…${key.lastFour}`,
          Option.isSome,
          key.permission !== "manage"
        )
        if (Option.isNone(issued)) return yield* new NotFound({ message: unknownObject })
        return issued.value
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentMember
        const key = yield* current(params.keyId)
        const revoked = yield* recording(
          keys.revokeKey(tenant.merchantId, key.id),
          "key.revoked",
          `revoked a ${keyInWords(key)}, ${key.prefix}…${key.lastFour}`,
          (isRevoked) => isRevoked,
          true
        )
        if (!revoked) return yield* new NotFound({ message: unknownObject })
      })
    })
  })
)
