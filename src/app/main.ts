// Starts the service configured by the environment: this process, or WORKERS of them.
import { availableParallelism } from "node:os"
import { extname } from "node:path"
import { processSlotIn, requestedProcesses } from "../platform/AppConfig/processCount.ts"
import { supervise } from "../platform/processes/supervise.ts"

const count =
  processSlotIn(process.env) === undefined
    ? requestedProcesses(process.env, { cores: availableParallelism(), platform: process.platform })
    : 1

// The supervisor loads no code of the service, which is a separate file next to this one when built.
if (count > 1) await supervise(count)
else await import(import.meta.resolve(`./service${extname(import.meta.path)}`))
