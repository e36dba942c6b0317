/** Deliveries that wait for an endpoint go to the next endpoint within this time; later, only on request. */
export const followingMillis = 24 * 3_600_000
