// Describes the retry schedule in a sentence, for the API's description and the guides.
const units = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"]
] as const

const durationInWords = (seconds: number) => {
  const [size, unit] = units.find(([size]) => seconds >= size && seconds % size === 0) ?? [1, "second"]
  const count = seconds / size
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** Describes the number and times of a delivery's attempts, from the delays (seconds) before each retry. */
export const attemptsInWords = (delays: ReadonlyArray<number>): string => {
  if (delays.length === 0) return "1 attempt, at once"
  const after = delays.map((delay) => `after ${durationInWords(delay)}`)
  return `${delays.length + 1} attempts: at once, ${after.join(", then ")}`
}
