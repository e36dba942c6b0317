import { type Network, networks } from "../../src/domain/networks.ts"

/** The network on which money moves: Testnet, or with MONEY_NETWORK=live Mainnet. */
export const moneyNetwork: Network = networks[process.env["MONEY_NETWORK"] === "live" ? "live" : "test"]
