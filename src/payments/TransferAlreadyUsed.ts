import { Data } from "effect"

/** The transfer already pays another payment. */
export class TransferAlreadyUsed extends Data.TaggedError("TransferAlreadyUsed") {}
