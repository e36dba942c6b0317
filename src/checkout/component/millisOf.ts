/** Unix milliseconds of an ISO 8601 date. Old libraries replace `Date.parse`, but not the constructor. */
export const millisOf = (iso: string): number => new Date(iso).getTime()
