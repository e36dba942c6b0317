// Starts the process whose requests arrive at a fixed rate.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type LoadRequest, linesOf } from "../wrk.ts"
import type { Arrivals } from "./arrivals.ts"

/** @throws Error where an answer was no success. */
export const arrive = async (options: {
  readonly url: string
  readonly directory: string
  readonly requests: ReadonlyArray<LoadRequest>
  readonly rate: number
  readonly seconds: number
}): Promise<Arrivals> => {
  const file = join(options.directory, "arrivals.tsv")
  writeFileSync(file, linesOf(options.requests))
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, "arrivals.ts"),
      ...["--url", options.url, "--requests", file],
      ...["--rate", String(options.rate), "--seconds", String(options.seconds)]
    ],
    { stdout: "pipe", stderr: "inherit" }
  )
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${options.url}: the load did not go well`)
  return JSON.parse(text)
}
