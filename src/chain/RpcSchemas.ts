// The JSON-RPC responses that are read. Nodes are not trusted: anything without exactly this form is rejected. All hex
// is converted to lower case.
import { Predicate, Schema, SchemaGetter } from "effect"

const lowerHex = (pattern: RegExp) =>
  Schema.String.check(Schema.isPattern(pattern)).pipe(
    Schema.decodeTo(Schema.TemplateLiteral(["0x", Schema.String]), {
      decode: SchemaGetter.transform((text): `0x${string}` => `0x${text.slice(2).toLowerCase()}`),
      encode: SchemaGetter.transform((text) => text)
    })
  )

/** At most 256 bits. */
export const Quantity = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,64}$/)).pipe(
  Schema.decodeTo(Schema.BigInt, {
    decode: SchemaGetter.transform(BigInt),
    encode: SchemaGetter.transform((value) => `0x${value.toString(16)}`)
  })
)
export const Word = lowerHex(/^0x[0-9a-fA-F]{64}$/)
export const Bytes = lowerHex(/^0x(?:[0-9a-fA-F]{2})*$/)
export const Account = lowerHex(/^0x[0-9a-fA-F]{40}$/)

export const ReceiptLog = Schema.Struct({
  address: Account,
  topics: Schema.Array(Word).check(Schema.isMaxLength(4)),
  data: Bytes,
  logIndex: Quantity,
  transactionHash: Word,
  blockHash: Word,
  removed: Schema.optionalKey(Schema.Literal(false))
})

const isPending = (receipt: unknown): boolean =>
  Predicate.hasProperty(receipt, "blockHash") && receipt.blockHash === null

/** Null while the transaction is in no block that the node knows. Some nodes return a receipt without a block. */
const MinedReceipt = Schema.Unknown.pipe(
  Schema.decode({
    decode: SchemaGetter.transform((receipt) => (isPending(receipt) ? null : receipt)),
    encode: SchemaGetter.transform((receipt) => receipt)
  })
)

export const Receipt = MinedReceipt.pipe(
  Schema.decodeTo(
    Schema.NullOr(
      Schema.Struct({
        transactionHash: Word,
        blockHash: Word,
        blockNumber: Quantity,
        status: Schema.Literals(["0x0", "0x1"]),
        logs: Schema.Array(ReceiptLog)
      })
    )
  )
)

/** The wei that a receipt's transaction cost, including the L1 fee that OP-stack chains add to gas. */
export const ReceiptCost = MinedReceipt.pipe(
  Schema.decodeTo(
    Schema.NullOr(
      Schema.Struct({
        gasUsed: Quantity,
        effectiveGasPrice: Quantity,
        l1Fee: Schema.optionalKey(Schema.NullOr(Quantity))
      })
    )
  ),
  Schema.decodeTo(Schema.UndefinedOr(Schema.BigInt), {
    decode: SchemaGetter.transform((receipt) =>
      receipt === null ? undefined : receipt.gasUsed * receipt.effectiveGasPrice + (receipt.l1Fee ?? 0n)
    ),
    encode: SchemaGetter.forbidden(() => "a cost is no receipt")
  })
)

export const Block = Schema.NullOr(
  Schema.Struct({
    number: Quantity,
    hash: Word,
    timestamp: Quantity,
    transactions: Schema.Array(Word)
  })
)

/** The newest block: its height, and its time in Unix seconds. */
export const Head = Schema.Struct({ number: Quantity, timestamp: Quantity })
export type Head = typeof Head.Type

/** The header of a block, by which the next block is recognised. */
export const BlockHeader = Schema.NullOr(
  Schema.Struct({
    number: Quantity,
    hash: Word,
    parentHash: Word,
    timestamp: Quantity,
    /** Null or empty if the node keeps none. */
    logsBloom: Schema.optionalKey(Schema.NullOr(lowerHex(/^0x(?:[0-9a-fA-F]{512})?$/))),
    transactions: Schema.optionalKey(Schema.Array(Schema.Unknown))
  })
)

/** A log as `eth_getLogs` returns it. */
export const RangeLog = Schema.Struct({ ...ReceiptLog.fields, blockNumber: Quantity })

/**
 * The frame of every response; each method's schema decodes `result`. Providers fill it freely: an error without an
 * id, with a quoted code, as a string or without the frame's `error`; `"error": null` beside a result.
 */
export const RpcResponse = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.optionalKey(Schema.Unknown),
    result: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.Unknown),
    code: Schema.optionalKey(Schema.Unknown),
    message: Schema.optionalKey(Schema.Unknown)
  })
)
