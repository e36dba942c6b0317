// Reads ERC-20 transfers from raw logs. A log counts only in the exact form that the pinned token emits; any other
// form belongs to another contract.

import { Address } from "../../domain/Chain.ts"
import { parseAddress } from "../Address.ts"

/** A log as the node returned it, in lower-case hex. */
export interface RawLog {
  readonly address: string
  readonly topics: ReadonlyArray<string>
  readonly data: string
}

export interface TransferLog {
  /** Index among the logs of its transaction. */
  readonly position: number
  /** The contract that emitted it. */
  readonly token: Address
  readonly from: Address
  readonly to: Address
  /** In the token's smallest units. */
  readonly value: bigint
}

/** keccak256("Transfer(address,address,uint256)") */
export const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const addressTopic = /^0x0{24}([0-9a-f]{40})$/
const word = /^0x[0-9a-f]{64}$/
const zeroAddress = Address.make(`0x${"0".repeat(40)}`)

const addressOfTopic = (topic: string | undefined): Address | undefined => {
  const digits = topic === undefined ? undefined : addressTopic.exec(topic)?.[1]
  return digits === undefined ? undefined : parseAddress(`0x${digits}`)
}

/**
 * The transfer that a log describes: exactly three topics, 32 bytes of data, clean address words. Undefined for
 * anything else.
 */
export const readTransferLog = (log: RawLog, position: number): TransferLog | undefined => {
  if (log.topics.length !== 3 || log.topics[0] !== transferTopic || !word.test(log.data)) return undefined
  const token = parseAddress(log.address)
  const from = addressOfTopic(log.topics[1])
  const to = addressOfTopic(log.topics[2])
  if (token === undefined || from === undefined || to === undefined) return undefined
  return { position, token, from, to, value: BigInt(log.data) }
}

/** True if value moved between two parties: not zero, not a mint, burn, or self-transfer. */
export const isPayment = (transfer: TransferLog): boolean =>
  transfer.value > 0n &&
  transfer.from !== zeroAddress &&
  transfer.to !== zeroAddress &&
  transfer.from !== transfer.to

/** All transfers of a receipt's logs, by any token, in order. */
export const readTransferLogs = (logs: ReadonlyArray<RawLog>): ReadonlyArray<TransferLog> =>
  read(logs, isPayment)

/** The same, including mints. */
export const readTransferLogsWithMints = (logs: ReadonlyArray<RawLog>): ReadonlyArray<TransferLog> =>
  read(logs, (transfer) => isPayment(transfer) || isMint(transfer))

const isMint = ({ from, to, value }: TransferLog) => value > 0n && from === zeroAddress && to !== zeroAddress

const read = (logs: ReadonlyArray<RawLog>, counts: (transfer: TransferLog) => boolean) =>
  logs.flatMap((log, position) => {
    const transfer = readTransferLog(log, position)
    return transfer !== undefined && counts(transfer) ? [transfer] : []
  })
