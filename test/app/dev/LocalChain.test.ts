// The local chain has the real USDC contract, and its end never leaves anything hanging.
import { expect } from "bun:test"
import { Effect, Exit, Redacted, Schedule } from "effect"
import { hexToSignature, serializeSignature } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../../src/app/dev/LocalChain.ts"
import { usdcAbi } from "../../../src/app/dev/LocalUsdc.ts"
import { Address } from "../../../src/domain/Chain.ts"
import { networks } from "../../../src/domain/networks.ts"
import { liveEffect } from "../../support/run.ts"

const read = <A>(evaluate: () => Promise<A>) => Effect.promise(evaluate)

const separators = {
  test: "0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818",
  live: "0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78"
} as const

for (const network of Object.values(networks)) {
  liveEffect(`the token at the pinned address is USDC with the domain separator of ${network.name}`, () =>
    Effect.gen(function* () {
      const chain = yield* LocalChain
      const at = { address: network.usdc.address, abi: usdcAbi } as const
      const client = chain.publicClient
      expect(chain.usdc).toBe(network.usdc.address)
      expect(yield* read(() => client.getChainId())).toBe(network.chainId)
      expect(yield* read(() => client.readContract({ ...at, functionName: "name" }))).toBe(
        network.usdc.domainName
      )
      expect(yield* read(() => client.readContract({ ...at, functionName: "symbol" }))).toBe("USDC")
      expect(yield* read(() => client.readContract({ ...at, functionName: "version" }))).toBe("2")
      expect(yield* read(() => client.readContract({ ...at, functionName: "decimals" }))).toBe(6)
      expect(yield* read(() => client.readContract({ ...at, functionName: "DOMAIN_SEPARATOR" }))).toBe(
        separators[network.env]
      )
    }).pipe(Effect.provide(LocalChain.layer({ network, blockTimeSeconds: 0 })))
  )
}

liveEffect("the faucet account transfers, the owner mints, a relayer moves by EIP-3009", () =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const client = chain.publicClient
    const at = { address: chain.usdc, abi: usdcAbi } as const
    const balance = (account: `0x${string}`) =>
      read(() => client.readContract({ ...at, functionName: "balanceOf", args: [account] }))
    const faucet = privateKeyToAccount(Redacted.value(chain.faucetPrivateKey))
    expect(faucet.address).toBe(chain.account(1).address)
    const buyer = chain.account(20)
    const merchant = chain.account(21).address

    const sent = yield* read(() =>
      chain
        .walletClient(1)
        .writeContract({ ...at, functionName: "transfer", args: [buyer.address, 5_000_000n] })
    )
    const receipt = yield* read(() => client.waitForTransactionReceipt({ hash: sent }))
    expect(receipt.status).toBe("success")
    expect(receipt.logs.map((log) => [log.address, log.topics.length])).toEqual([
      [chain.usdc.toLowerCase() as `0x${string}`, 3]
    ])
    yield* chain.mint(Address.make(buyer.address), 1_000_000n)
    expect(yield* balance(buyer.address)).toBe(6_000_000n)

    const message = {
      from: buyer.address,
      to: merchant,
      value: 2_500_000n,
      validAfter: 0n,
      validBefore: 99_999_999_999n,
      nonce: `0x${"07".repeat(32)}`
    } as const
    const signature = yield* read(() =>
      buyer.signTypedData({
        domain: { name: "USDC", version: "2", chainId: 84532, verifyingContract: chain.usdc },
        types: {
          TransferWithAuthorization: [
            { name: "from", type: "address" },
            { name: "to", type: "address" },
            { name: "value", type: "uint256" },
            { name: "validAfter", type: "uint256" },
            { name: "validBefore", type: "uint256" },
            { name: "nonce", type: "bytes32" }
          ]
        },
        primaryType: "TransferWithAuthorization",
        message
      })
    )
    const relayed = yield* read(() =>
      chain.walletClient(2).writeContract({
        ...at,
        functionName: "transferWithAuthorization",
        args: [
          message.from,
          message.to,
          message.value,
          message.validAfter,
          message.validBefore,
          message.nonce,
          serializeSignature(hexToSignature(signature))
        ]
      })
    )
    expect((yield* read(() => client.waitForTransactionReceipt({ hash: relayed }))).status).toBe("success")
    expect(yield* balance(merchant)).toBe(2_500_000n)
  }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
)

liveEffect("blocks come without transactions, and a reorganisation drops a transaction", () =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const client = chain.publicClient
    const hash = yield* chain.mint(Address.make(chain.account(5).address), 1n)
    expect(yield* read(() => client.getTransactionReceipt({ hash }))).toMatchObject({ status: "success" })
    yield* chain.reorganise(1)
    const gone = yield* Effect.exit(Effect.tryPromise(() => client.getTransactionReceipt({ hash })))
    expect(Exit.isFailure(gone)).toBe(true)
  }).pipe(Effect.provide(LocalChain.layer()))
)

liveEffect("the end of anvil is noticed at once", () =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    yield* chain.kill
    const died = yield* Effect.flip(chain.died)
    expect(died.message).toBe("the local chain (anvil) ended: SIGKILL")
  }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
)

liveEffect("a port in use is reported with the variable to set", () =>
  Effect.gen(function* () {
    const chain = yield* LocalChain
    const port = Number(new URL(chain.rpcUrl).port)
    const error = yield* Effect.flip(
      Effect.provide(LocalChain, LocalChain.layer({ port, portVariable: "CHAIN_PORT" }), { local: true })
    )
    expect(error.reason).toBe("port_taken")
    expect(error.message).toContain(String(port))
    expect(error.message).toContain("CHAIN_PORT")
  }).pipe(Effect.provide(LocalChain.layer({ blockTimeSeconds: 0 })))
)

liveEffect("anvil does not outlive a parent that was killed outright", () =>
  Effect.gen(function* () {
    const parent = Bun.spawn([process.execPath, `${import.meta.dir}/../../support/localChainHost.ts`], {
      stdout: "pipe"
    })
    const reader = parent.stdout.getReader()
    const first = yield* read(() => reader.read())
    const rpcUrl = new TextDecoder().decode(first.value).trim()
    const answers = () =>
      fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }).then(
        () => true,
        () => false
      )
    expect(yield* read(answers)).toBe(true)
    parent.kill("SIGKILL")
    yield* read(() => parent.exited)
    const gone = Effect.promise(answers).pipe(
      Effect.repeat({ until: (up) => !up, schedule: Schedule.spaced("20 millis") }),
      Effect.timeout("20 seconds")
    )
    expect(yield* gone).toBe(false)
  })
)
