// Two processes whose channel to their supervisor closes before their end is known, as when one is killed.
import { siblingIn } from "../../src/AppConfig/processCount.ts"
import type { Ready } from "../../src/processes/messages.ts"
import { supervise } from "../../src/processes/supervise.ts"

const ready: Ready = { tag: "ready", metrics: null }

if (siblingIn(process.env) === undefined) await supervise(2)
else {
  process.send?.(ready)
  setTimeout(() => process.disconnect?.(), 500)
  setTimeout(() => process.exit(0), 4_000)
}
