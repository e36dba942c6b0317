// What a process loads when it first needs it, loaded before the first run: a world waits for no file.
import { Effect } from "effect"
import { recoverAddress } from "../../src/chain/recoverAddress.ts"
import { compileCheckout } from "./checkout/compiledCheckout.ts"
import { planOf } from "./Plan.ts"
import { simulate } from "./simulate.ts"

let warm: Promise<void> | undefined

const load = async () => {
  await compileCheckout()
  // So is what recovers signers, with the first well-formed signature.
  await Effect.runPromise(recoverAddress(`0x${"1".repeat(64)}`, `0x${"1".repeat(128)}1b`))
  // The page of the API reference is imported when its route is first made.
  const plan = { ...planOf("warm"), handlers: true, faults: new Map() }
  simulate(plan)
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setTimeout(resolve, 10))
  simulate(plan)
}

/** Once for the process. */
export const warmUp = (): Promise<void> => {
  warm ??= load()
  return warm
}
