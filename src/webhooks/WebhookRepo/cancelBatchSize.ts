/**
 * Deliveries of a deleted endpoint that one statement cancels at most: a statement that took a long queue whole
 * would be given up before its end. The rest is cancelled as it comes due.
 */
export const cancelBatchSize = 1_000
