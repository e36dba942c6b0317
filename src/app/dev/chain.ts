// `bun run chain`: only the local chain, for a service in another process. `--network live` simulates
// Mainnet: its chain id, its USDC, its blocks of a quarter of a second.
import { BunRuntime } from "@effect/platform-bun"
import { Cause, Console, Effect, Redacted } from "effect"
import { envs, isEnv, networks } from "../../domain/networks.ts"
import { typedCommands } from "../../platform/typedCommands.ts"
import { LocalChain } from "./LocalChain.ts"

const [flag, word = envs[0], ...others] = process.argv.slice(2)
if (!isEnv(word) || others.length > 0 || (flag !== undefined && flag !== "--network")) {
  typedCommands.error(
    `The only flag is --network, with ${envs.join(" or ")}.\nExample: bun run chain --network live`
  )
  process.exit(2)
}
const network = networks[word]

const port = Number(process.env["CHAIN_PORT"] ?? (network.isTest ? 8545 : 8546))
const host = process.env["CHAIN_HOST"] ?? "127.0.0.1"

/**
 * The settings with which the service uses the chain. Gas costs a hundred times as much as on the network. An
 * open Mainnet requires two nodes: here one node under two names.
 */
const settingsFor = (chain: LocalChain["Service"]) =>
  network.faucet
    ? `${network.nodes.setting}=${chain.rpcUrl} FAUCET_PRIVATE_KEY=${Redacted.value(chain.faucetPrivateKey)} FAUCET_GAS_WEI=2000000000000000 TEST_WALLET=on`
    : `${Object.values(network.relayWei)
        .map(({ setting }) => `${setting}=${10n ** 18n}`)
        .join(
          " "
        )} MAINNET=open ${network.nodes.setting}=${chain.rpcUrl},${chain.rpcUrl.replace("127.0.0.1", "localhost")}`

/** The chain cannot know the wallet that the service will generate. */
const relayerAdvice = (rpcUrl: string) => `
Agents, and buyers who only sign, pay through the relayer's wallet, which needs ETH. Print its address, then send it some:

  ${network.nodes.setting}=${rpcUrl} bun run cli doctor
  curl ${rpcUrl} -H 'content-type: application/json' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"anvil_setBalance","params":["0xItsAddress","0xde0b6b3a7640000"]}'
`

const main = Effect.gen(function* () {
  const chain = yield* LocalChain
  yield* Console.log(`The local chain runs at ${chain.rpcUrl} (chain id ${chain.chain.id}, Circle's USDC at ${chain.usdc}).
Start the service on it:

  ${settingsFor(chain)} bun run start
${network.faucet ? relayerAdvice(chain.rpcUrl) : `\nAn account with ETH and 1,000,000 USDC, for a buyer's wallet: private key ${Redacted.value(chain.faucetPrivateKey)}\n`}
Ctrl-C stops the chain and discards its state.`)
  return yield* chain.died
}).pipe(
  Effect.provide(
    LocalChain.layer({
      network,
      port,
      portVariable: "CHAIN_PORT",
      host,
      blockTimeSeconds: Math.min(1, network.blockMillis / 1_000)
    })
  )
)

main.pipe(
  Effect.catchCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    return Effect.andThen(
      Console.error(error instanceof Error ? error.message : String(error)),
      Effect.sync(() => process.exit(1))
    )
  }),
  Effect.provideService(Console.Console, typedCommands),
  // Ctrl-C is the usual end.
  BunRuntime.runMain({ disableErrorReporting: true, teardown: (_, onExit) => onExit(0) })
)
