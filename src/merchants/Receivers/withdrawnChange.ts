// How the withdrawal of a waiting change of address is told, whatever has ended it.
import type { Change } from "../../audit/AuditLog.ts"
import type { Address, Env } from "../../domain/Chain.ts"

/** `by` says how, where nobody withdrew it by hand: ", by a new password". */
export const withdrawnChange = (
  { address, env }: { readonly address: Address; readonly env: Env },
  requestedBy: string,
  by = ""
): Change => ({
  action: "receiver.change_withdrawn",
  env,
  summary: `withdrew the change of the receiving address to ${address} that ${requestedBy} asked for${by}`
})
