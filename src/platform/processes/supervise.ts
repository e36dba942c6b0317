// Runs several processes of the service on one port: starts them, restarts those that end, and stops all of them. It
// loads nothing of the service and no Effect, which would add two thirds to its memory.
import type { Subprocess } from "bun"
import { processSlotVariable } from "../AppConfig/processCount.ts"

/** The message that a process sends once it is ready. */
export const readyMessage = "ready"

/** Longer than a process takes to stop. */
const stopMillis = 21_000
/** A process that served this long was sound: its end does not count as a consecutive crash. */
const soundMillis = 10_000
const maxCrashes = 5
const maxDelayMillis = 10_000
/** The exit code if processes end as soon as they are started. */
const crashedCode = 3

type Level = "info" | "warn" | "error"

/** Logs like the service: one JSON object per line in production. */
const log = (level: Level, message: string) => {
  const line =
    process.env["ENVIRONMENT"]?.trim() === "production"
      ? JSON.stringify({ timestamp: new Date().toISOString(), level, message })
      : message
  if (level === "info") console.log(line)
  else console.error(line)
}

interface ServiceProcess {
  readonly child: Subprocess
  /** False if it ended before it served. */
  readonly ready: Promise<boolean>
  readonly readyAt: () => number | undefined
}

const spawn = (number: number, of: number, isFirst: boolean): ServiceProcess => {
  const ready = Promise.withResolvers<boolean>()
  let readyAt: number | undefined
  const child = Bun.spawn([process.execPath, ...process.execArgv, Bun.main], {
    env: { ...process.env, ...processSlotVariable({ number, of, isFirst }) },
    stdio: ["inherit", "inherit", "inherit"],
    serialization: "json",
    ipc: (message: unknown) => {
      if (message !== readyMessage) return
      readyAt ??= Date.now()
      ready.resolve(true)
    }
  })
  void child.exited.then(() => ready.resolve(false))
  return { child, ready: ready.promise, readyAt: () => readyAt }
}

const isOver = ({ child }: ServiceProcess) => child.exitCode !== null || child.signalCode !== null

/** Runs this many processes until a signal stops them; resolves to the exit code. */
const run = async (count: number): Promise<number> => {
  const processes = new Map<number, ServiceProcess>()
  const stopped = Promise.withResolvers<number>()
  let isStopping = false
  let crashes = 0

  const start = (number: number, isFirst = false): ServiceProcess => {
    const started = spawn(number, count, isFirst)
    processes.set(number, started)
    return started
  }

  const stop = async (code: number): Promise<void> => {
    if (isStopping) return
    isStopping = true
    const all = [...processes.values()]
    const kill = (signal: NodeJS.Signals) => {
      for (const serviceProcess of all) if (!isOver(serviceProcess)) serviceProcess.child.kill(signal)
    }
    kill("SIGTERM")
    const late = setTimeout(() => kill("SIGKILL"), stopMillis)
    const ends = await Promise.all(
      all.map(async (serviceProcess) => ({
        served: serviceProcess.readyAt() !== undefined,
        code: await serviceProcess.child.exited
      }))
    )
    clearTimeout(late)
    const isClean = ends.every((end) => end.code === 0 || !end.served)
    stopped.resolve(code === 0 && !isClean ? 1 : code)
  }

  /** Restarts the process of this number whenever it ends, with a growing delay. */
  const keepRunning = async (number: number): Promise<void> => {
    for (let current = processes.get(number); current !== undefined && !isStopping; ) {
      const code = await current.child.exited
      if (isStopping) return
      const readyAt = current.readyAt()
      crashes = readyAt !== undefined && Date.now() - readyAt > soundMillis ? 1 : crashes + 1
      const serves = [...processes.values()].some(
        (serviceProcess) => !isOver(serviceProcess) && serviceProcess.readyAt() !== undefined
      )
      if (crashes >= maxCrashes && !serves) {
        log(
          "error",
          `${crashes} processes exited in a row, the last with code ${code}, and none is serving. Giving up; the lines above give the reason.`
        )
        return stop(crashedCode)
      }
      const delay = Math.min(100 * 2 ** (crashes - 1), maxDelayMillis)
      log("warn", `Process ${number} exited with code ${code}; restarting it in ${delay} ms.`)
      await Bun.sleep(delay)
      if (!isStopping) current = start(number)
    }
  }

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void stop(0))
  const first = start(1, true)
  // Its refusal applies to the whole instance, and it has logged the reason.
  if (!(await first.ready)) return isStopping ? stopped.promise : first.child.exited
  for (let number = 2; number <= count && !isStopping; number++) start(number)
  for (const number of processes.keys()) void keepRunning(number)
  void Promise.all([...processes.values()].map(({ ready }) => ready)).then((all) => {
    if (!isStopping && all.every((served) => served)) log("info", `All ${count} processes are serving.`)
  })
  return stopped.promise
}

/** Runs this many processes until a signal stops them, and ends this process with their exit code. */
export const supervise = async (count: number): Promise<never> => process.exit(await run(count))
