// A run as people read it.
import { describePlan } from "./Plan.ts"
import type { Outcome } from "./simulate.ts"

const clock = (millis: number) => {
  const [hours, minutes, seconds] = [millis / 3_600_000, (millis / 60_000) % 60, (millis / 1_000) % 60].map(
    Math.floor
  )
  const part = (value: number | undefined) => String(value).padStart(2, "0")
  return `${part(hours)}:${part(minutes)}:${part(seconds)}.${String(millis % 1_000).padStart(3, "0")}`
}

/** What happened, line by line. */
export const timeline = ({ happenings }: Outcome): string =>
  happenings.map(({ at, what, who }) => `${clock(at)}  ${who.padEnd(22)} ${what}`).join("\n")

export const summary = ({ broken, elapsed, hash, hits, plan, states, steps }: Outcome): string =>
  [
    describePlan(plan),
    `${steps} steps, ${(elapsed / 1_000).toFixed(0)} s of the world's time, trace ${hash}`,
    `faults: ${[...hits].map(([name, count]) => `${name} ${count}`).join("; ") || "none came"}`,
    ...(states.size === 0
      ? []
      : [`states: ${[...states].map(([name, count]) => `${name} ${count}`).join("; ")}`]),
    broken === undefined ? "every invariant held" : `BROKEN  ${broken.invariant}: ${broken.detail}`
  ].join("\n")
