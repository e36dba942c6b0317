/** Pending deliveries of a deleted endpoint go to one registered within this time; later, only on request. */
export const rerouteMillis = 24 * 3_600_000
