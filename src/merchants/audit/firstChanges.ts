// The audit entries of a new merchant: its first keys and addresses.
import type { Merchant } from "../../domain/Merchant.ts"
import { envs } from "../../domain/networks.ts"
import type { FirstKeys } from "../keys/KeyAuth.ts"
import type { Change } from "./AuditLog.ts"

/** A key's prefix and last characters, without its secret part. */
const withoutSecret = (key: string) => `${key.slice(0, key.lastIndexOf("_") + 1)}…${key.slice(-4)}`

export const firstChanges = ({
  keys,
  merchant
}: {
  readonly merchant: Merchant
  readonly keys: Partial<FirstKeys>
}) => {
  const { live, test } = merchant.receivers
  const changes: ReadonlyArray<Change> = [
    {
      action: "merchant.created",
      env: null,
      summary: `created the merchant, which receives at ${test} on test and at ${live} on live`
    },
    ...envs.flatMap((env): ReadonlyArray<Change> => {
      const pair = keys[env]
      if (pair === undefined) return []
      return [
        {
          action: "key.created",
          env,
          summary: `created the first keys: full access ${withoutSecret(pair.secret)}, publishable ${withoutSecret(pair.publishable)}`
        }
      ]
    })
  ]
  return { merchantId: merchant.id, changes }
}
