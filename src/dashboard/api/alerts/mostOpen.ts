/** Open alerts are counted up to here. */
export const mostOpen = 100
