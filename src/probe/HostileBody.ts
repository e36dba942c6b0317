// A body that a facilitator is sent, with its name and the rule it breaks.
import type { ProbeVersion } from "./authorizations.ts"

export interface HostileBody {
  readonly name: string
  readonly reference: string
  readonly body: string | Uint8Array
}

/** Where the scheme `exact` on EVM is specified. */
export const exactEvm = (version: ProbeVersion): string => `x402 v${version} exact-evm`
