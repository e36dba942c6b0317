// A contract wallet for the browser tests: a smart account on the chain, whose owner signs for it (ERC-1271,
// ERC-6492 before it is deployed) and sends its calls (EIP-5792).
import { type Address, concat, encodeAbiParameters, type Hex, isHex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import {
  batchCall,
  create2Address,
  create2Call,
  create2Factory,
  erc1271Runtime,
  smartAccountCreation
} from "../support/contracts.ts"

type Rpc = (method: string, params: ReadonlyArray<unknown>) => Promise<unknown>
type Send = (transaction: { readonly to: Hex; readonly data: Hex }) => Promise<unknown>

export interface ContractWallet {
  readonly address: Address
  /** The signature that a page receives, made from the owner's signature. */
  readonly seal: (signature: Hex) => Promise<Hex>
  /** Answers the EIP-5792 methods; undefined for others. */
  readonly answer: (method: string, params: ReadonlyArray<unknown>) => (() => Promise<unknown>) | undefined
  /** Accepts calls, and sends nothing until `sendHeld`. */
  holds: boolean
  readonly sendHeld: () => Promise<void>
}

const validator: Hex = `0x${"4".repeat(40)}`

const isCalls = (
  value: unknown
): value is {
  readonly id: string
  readonly calls: ReadonlyArray<{ readonly to: Hex; readonly data: Hex }>
} => typeof value === "object" && value !== null && "id" in value && "calls" in value

export const makeContractWallet = async (
  owner: PrivateKeyAccount,
  chainId: number,
  rpc: Rpc,
  send: Send,
  deployed: boolean
): Promise<ContractWallet> => {
  await rpc("anvil_setCode", [validator, erc1271Runtime])
  const creation = smartAccountCreation(owner.address, validator)
  const address = create2Address(creation)
  const isDeployed = async () => (await rpc("eth_getCode", [address, "latest"])) !== "0x"
  const deploy = async () => {
    if (!(await isDeployed())) await send({ to: create2Factory, data: create2Call(creation) })
  }
  if (deployed) await deploy()
  /** Transactions by the id of their calls; undefined while the wallet holds them. */
  const taken = new Map<string, { readonly data: Hex; hash: unknown }>()
  const run = async (batch: { readonly data: Hex; hash: unknown }) => {
    await deploy()
    batch.hash = await send({ to: address, data: batch.data })
  }
  const wallet: ContractWallet = {
    address,
    holds: false,
    sendHeld: async () => {
      for (const batch of taken.values()) if (batch.hash === undefined) await run(batch)
    },
    seal: async (signature) =>
      (await isDeployed())
        ? signature
        : concat([
            encodeAbiParameters(
              [{ type: "address" }, { type: "bytes" }, { type: "bytes" }],
              [create2Factory, create2Call(creation), signature]
            ),
            `0x${"6492".repeat(16)}`
          ]),
    answer: (method, [first]) => {
      switch (method) {
        case "wallet_getCapabilities":
          return async () => ({ [`0x${chainId.toString(16)}`]: { atomic: { status: "supported" } } })
        case "wallet_sendCalls":
          return async () => {
            if (!isCalls(first)) throw { code: -32602, message: "no calls" }
            if (taken.has(first.id)) throw { code: 5720, message: "Duplicate ID" }
            const batch = { data: batchCall("strict", first.calls), hash: undefined }
            taken.set(first.id, batch)
            if (!wallet.holds) await run(batch)
            return { id: first.id }
          }
        case "wallet_getCallsStatus":
          return async () => {
            const batch = taken.get(String(first))
            if (batch === undefined) throw { code: 5730, message: "Unknown bundle ID" }
            const { hash } = batch
            const receipt = isHex(hash) ? await rpc("eth_getTransactionReceipt", [hash]) : null
            return receipt === null
              ? { version: "2.0.0", id: first, chainId, status: 100, atomic: true }
              : { version: "2.0.0", id: first, chainId, status: 200, atomic: true, receipts: [receipt] }
          }
        default:
          return undefined
      }
    }
  }
  return wallet
}
