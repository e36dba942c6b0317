// `bun run chain`: the local chain by itself, for a service that runs beside it.
import { BunRuntime } from "@effect/platform-bun"
import { Cause, Console, Effect, Redacted } from "effect"
import { LocalChain } from "./LocalChain.ts"

const port = Number(process.env["CHAIN_PORT"] ?? 8545)
const host = process.env["CHAIN_HOST"] ?? "127.0.0.1"

const main = Effect.gen(function* () {
  const chain = yield* LocalChain
  yield* Console.log(`The local chain answers at ${chain.rpcUrl} (chain id ${chain.chain.id}, Circle's USDC at ${chain.usdc}).
Start the service on it:

  BASE_SEPOLIA_RPC_URLS=${chain.rpcUrl} FAUCET_PRIVATE_KEY=${Redacted.value(chain.faucetPrivateKey)} FAUCET_GAS_WEI=2000000000000000 bun run start

Ctrl-C stops it; what happened on it is gone then.`)
  return yield* chain.died
}).pipe(Effect.provide(LocalChain.layer({ port, portVariable: "CHAIN_PORT", host })))

main.pipe(
  Effect.catchCause((cause) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    return Effect.andThen(
      Console.error(error instanceof Error ? error.message : String(error)),
      Effect.sync(() => process.exit(1))
    )
  }),
  BunRuntime.runMain({ disableErrorReporting: true })
)
