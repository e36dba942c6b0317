import { Effect, Schedule } from "effect"

/** The time for which the first process waits for processes of a killed supervisor to exit. */
const leftBehind = { times: 100, schedule: Schedule.spaced("100 millis") }

/** Dies if another program has the port, whether it holds the port exclusively or shares it. */
export const portIsFree = ({ hostname, port }: { readonly port: number; readonly hostname: string }) => {
  const taken = (reusePort: boolean) =>
    Effect.try({
      try: () => Bun.serve({ hostname, port, reusePort, fetch: () => new Response() }).stop(true),
      catch: (error) => error
    })
  return Effect.orDie(Effect.andThen(taken(true), Effect.retry(taken(false), leftBehind)))
}
