// Several processes of the service on one port: starts them, replaces what ends, and, on SIGHUP, each by a new one.
// It loads nothing of the service, and no Effect, which would be two thirds more memory than it takes.
import type { Server, Subprocess } from "bun"
import { siblingVariable } from "../AppConfig/processCount.ts"
import { gathered } from "./gathered.ts"
import type { Order, Ready } from "./messages.ts"

/** Longer than a process takes at most to stop. */
const stopMillis = 21_000
/** One that has served for so long was sound: what ends it is no crash in a row. */
const soundMillis = 10_000
const mostCrashes = 5
const metricsMillis = 2_000
/** What is said to whoever started it where processes end as soon as they are started. */
const crashedCode = 3

type Level = "info" | "warn" | "error"

/** As the service's log: a JSON object a line in production. */
const say = (level: Level, message: string) => {
  const line =
    process.env["ENVIRONMENT"]?.trim() === "production"
      ? JSON.stringify({ timestamp: new Date().toISOString(), level, message })
      : message
  if (level === "info") console.log(line)
  else console.error(line)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const readReady = (message: unknown): Ready | undefined => {
  if (!isRecord(message) || message["tag"] !== "ready") return undefined
  const { metrics } = message
  return isRecord(metrics) && typeof metrics["host"] === "string" && typeof metrics["port"] === "number"
    ? { tag: "ready", metrics: { host: metrics["host"], port: metrics["port"] } }
    : { tag: "ready", metrics: null }
}

const readMetrics = (message: unknown): string | undefined =>
  isRecord(message) && message["tag"] === "metrics" && typeof message["text"] === "string"
    ? message["text"]
    : undefined

class ServiceProcess {
  readonly number: number
  private readonly child: Subprocess
  private readonly served = Promise.withResolvers<Ready | undefined>()
  private readonly asked: Array<(text: string) => void> = []
  readyAt: number | undefined
  isOver = false
  /** With the exit code, or 128 and the signal's number. */
  readonly exited: Promise<number>

  constructor(number: number, of: number, isFirst: boolean) {
    this.number = number
    this.child = Bun.spawn([process.execPath, ...process.execArgv, Bun.main], {
      env: { ...process.env, ...siblingVariable({ number, of, isFirst }) },
      stdio: ["inherit", "inherit", "inherit"],
      serialization: "json",
      ipc: (message: unknown) => this.hear(message)
    })
    this.exited = this.child.exited.then((code) => {
      this.isOver = true
      this.served.resolve(undefined)
      return code
    })
  }

  private hear(message: unknown): void {
    const ready = readReady(message)
    if (ready !== undefined) {
      this.readyAt ??= Date.now()
      this.served.resolve(ready)
    }
    const text = readMetrics(message)
    if (text !== undefined) this.asked.shift()?.(text)
  }

  /** Undefined where it ended before it served. */
  get ready(): Promise<Ready | undefined> {
    return this.served.promise
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.isOver) this.child.kill(signal)
  }

  tell(order: Order): void {
    try {
      if (!this.isOver) this.child.send(order)
    } catch {
      // Its channel has closed: it ends, which is known a moment later.
    }
  }

  /** Undefined where it does not answer. */
  async metrics(): Promise<string | undefined> {
    if (this.isOver || this.readyAt === undefined) return undefined
    const told = Promise.withResolvers<string | undefined>()
    this.asked.push(told.resolve)
    const late = setTimeout(() => told.resolve(undefined), metricsMillis)
    this.tell("metrics")
    const text = await Promise.race([told.promise, this.exited.then(() => undefined)])
    clearTimeout(late)
    return text
  }
}

/** A place that always has a process, and for a moment a second one that takes over. */
interface Place {
  readonly number: number
  current: ServiceProcess
  next: ServiceProcess | undefined
}

class Supervisor {
  private readonly places: Array<Place> = []
  private readonly stopped = Promise.withResolvers<number>()
  private readonly count: number
  private isStopping = false
  /** The first serves, and every place has a process. */
  private hasBegun = false
  private upgrades: "none" | "running" | "again" = "none"
  private crashes = 0
  private metrics: Server<undefined> | undefined

  constructor(count: number) {
    this.count = count
  }

  private spawn(number: number, isFirst = false): ServiceProcess {
    return new ServiceProcess(number, this.count, isFirst)
  }

  /** The exit code. */
  async run(): Promise<number> {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void this.stop(0))
    // To what runs in a terminal it says that the terminal has gone.
    process.on("SIGHUP", () => void (process.stdin.isTTY ? this.stop(0) : this.upgrade()))
    const first = this.spawn(1, true)
    this.places.push({ number: 1, current: first, next: undefined })
    const ready = await first.ready
    // Its refusal is the whole instance's: it has said it.
    if (ready === undefined) return this.isStopping ? this.stopped.promise : first.exited
    if (ready.metrics !== null && !this.listen(ready.metrics)) void this.stop(1)
    for (let number = 2; number <= this.count && !this.isStopping; number++)
      this.places.push({ number, current: this.spawn(number), next: undefined })
    for (const place of this.places) void this.keep(place)
    this.hasBegun = true
    if (this.wantsAnother()) {
      this.upgrades = "none"
      void this.upgrade()
    }
    void Promise.all(this.places.map(({ current }) => current.ready)).then((all) => {
      if (!this.isStopping && all.every((one) => one !== undefined))
        say("info", `${this.count} processes serve: SIGHUP replaces them one by one.`)
    })
    return this.stopped.promise
  }

  /** Replaces what ends, a little later each time. */
  private async keep(place: Place): Promise<void> {
    while (!this.isStopping) {
      const { current } = place
      const code = await current.exited
      // What takes over has begun already.
      if (place.next !== undefined) await place.next.ready
      if (this.isStopping || place.current !== current) continue
      const wasSound = current.readyAt !== undefined && Date.now() - current.readyAt > soundMillis
      this.crashes = wasSound ? 1 : this.crashes + 1
      const serves = this.places.some((one) => !one.current.isOver && one.current.readyAt !== undefined)
      if (this.crashes >= mostCrashes && !serves) {
        say(
          "error",
          `${this.crashes} processes have ended one after another, the last with code ${code}, and none serves: giving up. What they said before is the reason.`
        )
        return this.stop(crashedCode)
      }
      const delay = Math.min(100 * 2 ** (this.crashes - 1), 10_000)
      say(
        "warn",
        `Process ${place.number} has ended with code ${code}; another takes its place in ${delay} ms.`
      )
      await Bun.sleep(delay)
      if (place.next !== undefined) await place.next.ready
      if (!this.isStopping && place.current === current) place.current = this.spawn(place.number)
    }
  }

  /** A new process for each place, ready before the old one leaves. */
  private async upgrade(): Promise<void> {
    // What takes the place of the first before it serves would have the instance end with it.
    if (this.isStopping || !this.hasBegun || this.upgrades !== "none") {
      this.upgrades = this.isStopping ? "none" : "again"
      return
    }
    do {
      this.upgrades = "running"
      say("info", "Replacing the processes one by one.")
      for (const place of this.places) if (!(await this.replace(place))) break
    } while (this.wantsAnother())
    this.upgrades = "none"
  }

  private wantsAnother(): boolean {
    return this.upgrades === "again" && !this.isStopping
  }

  private async replace(place: Place): Promise<boolean> {
    if (this.isStopping) return false
    const next = this.spawn(place.number)
    place.next = next
    const ready = await next.ready
    place.next = undefined
    if (ready === undefined) {
      const code = await next.exited
      if (!this.isStopping)
        say(
          "error",
          `The new process ${place.number} has ended with code ${code} before it served: those that run stay. Repair what it said, and send SIGHUP again.`
        )
      return false
    }
    const old = place.current
    place.current = next
    const late = setTimeout(() => old.kill("SIGKILL"), stopMillis)
    // One that does not serve yet does not listen either.
    await old.ready
    old.tell("leave")
    const code = await old.exited
    clearTimeout(late)
    next.tell("left")
    if (code !== 0) say("warn", `Process ${place.number} was replaced, and has ended with code ${code}.`)
    else say("info", `Process ${place.number} was replaced.`)
    return true
  }

  private listen({ host, port }: { readonly host: string; readonly port: number }): boolean {
    try {
      this.metrics = Bun.serve({
        hostname: host,
        port,
        routes: {
          "/metrics": {
            GET: async () => {
              const pages = await Promise.all(
                this.places.map(async ({ current, number }) => [number, await current.metrics()] as const)
              )
              const told = pages.flatMap(([number, page]) =>
                page === undefined ? [] : [[number, page] as const]
              )
              return new Response(gathered(new Map(told)), {
                headers: {
                  "content-type": "text/plain; version=0.0.4; charset=utf-8",
                  "cache-control": "no-store"
                }
              })
            }
          }
        },
        fetch: () => new Response("Metrics are at /metrics.\n", { status: 404 })
      })
      return true
    } catch {
      say("error", `METRICS_PORT must be a free port on METRICS_HOST; ${host}:${port} cannot be listened on.`)
      return false
    }
  }

  /** Ends every process as its own stop does, all at a time. */
  private async stop(code: number): Promise<void> {
    if (this.isStopping) return
    this.isStopping = true
    const all = this.places.flatMap(({ current, next }) => [current, ...(next === undefined ? [] : [next])])
    for (const one of all) one.kill("SIGTERM")
    const late = setTimeout(() => {
      for (const one of all) one.kill("SIGKILL")
    }, stopMillis)
    const codes = await Promise.all(
      all.map(async (one) => (one.readyAt === undefined ? 0 : await one.exited))
    )
    await Promise.all(all.map(({ exited }) => exited))
    clearTimeout(late)
    await this.metrics?.stop(true)
    this.stopped.resolve(code === 0 && codes.some((one) => one !== 0) ? 1 : code)
  }
}

/** Runs so many processes until a signal stops them, and ends this one with its code. */
export const supervise = async (count: number): Promise<never> =>
  process.exit(await new Supervisor(count).run())
