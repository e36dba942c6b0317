/** Of the pending payments, the overview counts this many, the newest: each is a look into three tables. */
export const mostPending = 1_000
