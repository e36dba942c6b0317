// After a restore no agent gets the wallet of an agent that was created after the backup.
import { describe, expect } from "bun:test"
import { join } from "node:path"
import { Effect } from "effect"
import { ownDatabase } from "../../support/ownDatabase.ts"
import { spawnProgram, temporaryDirectory } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"

const noChain = { BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9", ARBITRUM_RPC_URLS: "http://127.0.0.1:9" }
const secrets = {
  INTENT_TOKEN_SECRETS: `own:${"s".repeat(40)}`,
  ENCRYPTION_KEYS: `own:${Buffer.alloc(32, 7).toString("base64")}`,
  AGENT_WALLET_MNEMONIC: "legal winner thank year wave sausage worth useful legal winner thank yellow"
}
const cli = (env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const program = yield* spawnProgram(["src/app/cli/main.ts", ...args], { ...noChain, ...secrets, ...env })
    const code = yield* program.exited
    expect([code, code === 0 ? "" : program.output()]).toEqual([0, ""])
    return program.output()
  })

describe("agents' wallets after a restore", () => {
  liveEffect("the wallet of an agent created after the backup goes to no other merchant's agent", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const before = { DATABASE_URL: yield* ownDatabase(), DATA_DIR: dataDir }
      const after = { DATABASE_URL: yield* ownDatabase(), DATA_DIR: dataDir }
      const merchant = (name: string, receiver: string) =>
        Effect.map(
          cli(before, "merchant", "create", "--name", name, "--json", "--receiver", receiver),
          (text): string => JSON.parse(text).merchant.id
        )
      const alice = yield* merchant("Alice", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
      const bob = yield* merchant("Bob", "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
      const agent = (env: typeof before, owner: string) =>
        Effect.map(
          cli(
            env,
            ...["agent", "create", "--merchant", owner, "--env", "test", "--name", "Agent", "--json"],
            ...["--cap-per-payment", "1000.00", "--cap-per-day", "1000.00"]
          ),
          (text): string => JSON.parse(text).agent.address
        )
      yield* agent(before, alice)
      const file = join(dataDir, "nightly.backup.gz")
      yield* cli(before, "backup", "--to", file)
      // Alice creates another agent, and funds it.
      const funded = yield* agent(before, alice)
      // The disk is lost; the operator restores last night's backup. Bob creates an agent.
      yield* cli(after, "restore", "--from", file)
      // Agents of the same second have consecutive numbers.
      yield* Effect.sleep("2 seconds")
      const given = yield* agent(after, bob)
      expect(given).not.toBe(funded)
    })
  )
})
