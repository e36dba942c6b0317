/** The date this many milliseconds later; earlier if negative. */
export const plusMillis = (date: Date, millis: number): Date => new Date(date.getTime() + millis)
