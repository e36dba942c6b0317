// A body that a facilitator is sent, with its name and the rule it breaks.
import type { X402Version } from "./authorizations.ts"

export interface HostileBody {
  readonly name: string
  readonly reference: string
  readonly body: string | Uint8Array
}

/** Where the scheme `exact` on EVM is specified. */
export const exactEvm = (version: X402Version): string => `x402 v${version} exact-evm`
