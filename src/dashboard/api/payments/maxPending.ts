/** The number of newest pending payments that the overview counts, because each needs lookups in three tables. */
export const maxPending = 1_000
