// Detects another program on the port, which the operating system would let share it with this service.
import { Effect, Schedule } from "effect"

/** The time for which the first process waits for processes of a killed supervisor to exit. */
const leftBehind = { times: 100, schedule: Schedule.spaced("100 millis") }

/** Dies if another program has the port, whether it holds the port exclusively or shares it. */
export const checkPortIsFree = ({ hostname, port }: { readonly port: number; readonly hostname: string }) => {
  const bind = (reusePort: boolean) =>
    Effect.try({
      try: () => Bun.serve({ hostname, port, reusePort, fetch: () => new Response() }).stop(true),
      catch: (error) => error
    })
  return Effect.orDie(Effect.andThen(bind(true), Effect.retry(bind(false), leftBehind)))
}
