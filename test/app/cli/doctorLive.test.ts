// The rehearsal: a chain in Mainnet's place, what `doctor --live` reports of it, and a service that opens on it.
import { expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

setDefaultTimeout(90_000)

liveEffect("`run chain --network live` prints the settings, and `doctor --live` accepts its nodes", () =>
  Effect.gen(function* () {
    const port = yield* freePort(0)
    const chain = yield* spawnProgram(["src/app/dev/chain.ts", "--network", "live"], {
      CHAIN_PORT: String(port)
    })
    yield* Effect.promise(async () => {
      while (!chain.output().includes("Ctrl-C")) await Bun.sleep(50)
    })
    expect(chain.output()).toContain(
      "chain id 42161, Circle's USDC at 0xaf88d065e77c8cC2239327C5EDb3A432268e5831"
    )
    const [, nodes = ""] = /MAINNET=open ARBITRUM_RPC_URLS=(\S+) bun run start/.exec(chain.output()) ?? []
    expect(nodes).toBe(`http://127.0.0.1:${port},http://localhost:${port}`)
    const database = { DATA_DIR: yield* temporaryDirectory, DATABASE_URL: yield* ownDatabase() }
    const made = yield* spawnProgram(
      ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", `0x${"12".repeat(20)}`],
      database
    )
    yield* made.succeeded
    const asked = yield* spawnProgram(["src/app/cli/main.ts", "doctor", "--live", "--json"], {
      ...database,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: nodes,
      LIVE_WALLET_MNEMONIC: "legal winner thank year wave sausage worth useful legal winner thank yellow"
    })
    yield* asked.exited
    const words = asked.output()
    expect(words).toMatch(/It answers 32 requests in \d+ ms/)
    expect(words).toMatch(/Safe \d+ s and finalized \d+ s behind its newest block/)
    expect(words).toContain("It returns the logs of 10000 blocks per request")
    expect(words).toMatch(/2 of 2 nodes of Arbitrum One show the same block \d+/)
    expect(words).toMatch(/0x[0-9a-fA-F]{40} is not on USDC's blacklist on Arbitrum One/)
    expect(words).toContain("1 receiving address on Arbitrum One checked; none is on USDC's blacklist")
    expect(words).toContain("has no ETH, so buyers pay their own fees and agents cannot pay")
    // Without a Mainnet wallet, doctor does not ask for ETH for Testnet's.
    const without = yield* spawnProgram(["src/app/cli/main.ts", "doctor", "--live", "--json"], {
      DATA_DIR: yield* temporaryDirectory,
      BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
      ARBITRUM_RPC_URLS: `${nodes},http://127.0.0.1:9`
    })
    yield* without.exited
    expect(without.output()).toContain("LIVE_WALLET_MNEMONIC is not set: on Arbitrum One buyers pay")
    expect(without.output()).not.toContain("Send it ETH on Arbitrum One")
    // A silent node does not count as a contradiction.
    expect(without.output()).toMatch(/2 of 3 nodes of Arbitrum One show the same block \d+/)
  })
)

liveEffect("another network is refused with two lines", () =>
  Effect.gen(function* () {
    const chain = yield* spawnProgram(["src/app/dev/chain.ts", "--network", "mainnet"], {})
    yield* chain.exited
    expect(chain.output().trim().split("\n")).toEqual([
      "The only flag is --network, with test or live.",
      "Example: bun run chain --network live"
    ])
  })
)
