/** The time for which a transfer is reserved while a person attaches it. */
export const attachLeaseMillis = 60_000
