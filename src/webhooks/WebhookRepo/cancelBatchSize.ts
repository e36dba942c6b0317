/**
 * The maximum number of a deleted endpoint's deliveries that one statement cancels: cancelling a long queue
 * at once would exceed the time limit. The rest is cancelled as it comes due.
 */
export const cancelBatchSize = 1_000
