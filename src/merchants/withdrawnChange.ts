// The notification that a pending receiver change was withdrawn.

import type { Address, Env } from "../domain/Chain.ts"
import type { Change } from "./audit/AuditLog.ts"

/** `by` gives the cause if no member withdrew it: ", by setting a new password". */
export const withdrawnChange = (
  { address, env }: { readonly address: Address; readonly env: Env },
  requestedBy: string,
  by = ""
): Change => ({
  action: "receiver.change_withdrawn",
  env,
  summary: `withdrew the change of the receiving address to ${address} that ${requestedBy} requested${by}`
})
