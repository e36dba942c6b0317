/** How long a transfer that a person attaches is out of others' sight. */
export const attachLeaseMillis = 60_000
