/** The number of newest pending payments that the overview counts: each needs lookups in three tables. */
export const mostPending = 1_000
