import { AgentsNotConfigured } from "../../domain/Errors.ts"
import type { Network } from "../../domain/networks.ts"

/** Names the mnemonic that the network's agents lack. */
export const agentsNotConfigured = (setting: Network["wallets"]["setting"]) =>
  new AgentsNotConfigured({
    message: `Agents are disabled. The operator can enable them with ${setting}.`
  })
