import { AgentsNotConfigured } from "../../domain/Errors.ts"
import type { Network } from "../../domain/networks.ts"

/** Specifies the missing mnemonic of the network. */
export const agentsNotConfigured = (setting: Network["wallets"]["setting"]) =>
  new AgentsNotConfigured({
    message: `Agents are disabled. The operator can enable them with ${setting}.`
  })
