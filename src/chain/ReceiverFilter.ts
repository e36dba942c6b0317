// Selects the transfers to read: those that reach or leave the given addresses. Beyond a certain number of addresses,
// a node's topic lists cost more than they save, and every transfer is read.
import { Array as Arr } from "effect"
import { type Hex, hexToBytes, keccak256 } from "viem"
import type { Address } from "../domain/Chain.ts"
import { transferTopic } from "./ChainVerifier/TransferLog.ts"

/** Addresses in one topic list, and so in one request per block. Nodes limit it: geth to 1,000. */
export const batchSize = 250
/** In a range of blocks, more addresses than this are not filtered. */
export const maxFiltered = 1_000

type Topics = ReadonlyArray<string | null | ReadonlyArray<string>>

export interface ReceiverFilter {
  /** The topics of the `eth_getLogs` requests that together find the transfers; empty without addresses. */
  readonly topicFilters: ReadonlyArray<Topics>
  readonly has: (topics: ReadonlyArray<string>) => boolean
  /** True if a block with this `logsBloom` may contain such a transfer of the token. False positives are common. */
  readonly mightMatch: (logsBloom: Hex, token: Address) => boolean
}

const topicOf = (address: Address) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}` as const

/** The three bits of the bloom that a value sets (Yellow Paper, 4.3.1), as byte from the left and mask. */
const bloomBits = (value: Hex): ReadonlyArray<readonly [number, number]> => {
  const hash = keccak256(value, "bytes")
  return [0, 2, 4].map((at) => {
    const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
    return [255 - (bit >> 3), 1 << (bit & 7)] as const
  })
}

type Bits = ReturnType<typeof bloomBits>
const isSet = (bloom: Uint8Array, bits: Bits) =>
  bits.every(([byte, mask]) => ((bloom[byte] ?? 0) & mask) !== 0)

const transferBits = bloomBits(transferTopic)

const makeFilter = (topics: ReadonlyArray<Hex> | undefined): ReceiverFilter => {
  const set = topics === undefined ? undefined : new Set<string>(topics)
  let bits: ReadonlyArray<Bits> | undefined
  return {
    topicFilters:
      topics === undefined
        ? [[transferTopic]]
        : Arr.chunksOf(topics, batchSize).flatMap(
            (batch): ReadonlyArray<Topics> => [
              [transferTopic, null, batch],
              [transferTopic, batch]
            ]
          ),
    has: ([, from = "", to = ""]) => set === undefined || set.has(from) || set.has(to),
    mightMatch: (logsBloom, token) => {
      const bloom = hexToBytes(logsBloom)
      if (!isSet(bloom, transferBits) || !isSet(bloom, bloomBits(token))) return false
      if (topics === undefined) return true
      bits ??= topics.map(bloomBits)
      return bits.some((bit) => isSet(bloom, bit))
    }
  }
}

/** Every transfer of the token. */
export const everyTransfer: ReceiverFilter = makeFilter(undefined)

/** Transfers that reach or leave one of these addresses; every transfer if there are more than `max`. */
export const receiverFilter = (
  addresses: ReadonlyArray<Address>,
  max: number = maxFiltered
): ReceiverFilter => (addresses.length > max ? everyTransfer : makeFilter(addresses.map(topicOf)))
