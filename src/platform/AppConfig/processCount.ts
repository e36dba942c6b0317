// The number of processes that WORKERS requests, and this process's index. It is read before the service is loaded, so
// it has few imports.

/** The minimum number of connections per process: with fewer, its transactions would wait for each other. */
export const minConnections = 4
export const defaultConnections = 16
export const maxProcesses = 64

export interface Machine {
  readonly cores: number
  readonly platform: string
}

/** Only Linux lets several processes listen on one port and divides the requests among them. */
export const whySingleProcess = ({ platform }: Machine): string | undefined =>
  platform === "linux"
    ? undefined
    : "WORKERS must be 1 or `auto` here: only Linux divides the requests to one port among processes. Start several instances behind a balancer instead"

/** `auto` is one process per core, as far as the database connections allow. */
export const processCount = (workers: "auto" | number, connections: number, machine: Machine): number => {
  if (workers !== "auto") return workers
  if (whySingleProcess(machine) !== undefined) return 1
  return Math.max(1, Math.min(machine.cores, Math.floor(connections / minConnections), maxProcesses))
}

/** The reason why this many processes have too few connections. */
export const whyTooMany = (workers: "auto" | number, connections: number): string | undefined =>
  workers === "auto" || workers === 1 || workers * minConnections <= connections
    ? undefined
    : `DATABASE_CONNECTIONS must be ${workers * minConnections} or more for WORKERS=${workers}: each process needs ${minConnections}. Set it, and max_connections of the database accordingly, or set fewer WORKERS`

/** Parses a number exactly as the service does. */
const wholeNumber = (text: string): number | undefined => {
  const number = Number(text)
  return text !== "" && Number.isInteger(number) && number >= 0 ? number : undefined
}

/** The number of processes to supervise. 1 also for values that the service itself rejects with its own message. */
export const requestedProcesses = (
  env: Readonly<Record<string, string | undefined>>,
  machine: Machine
): number => {
  const text = env["WORKERS"]?.trim() ?? ""
  const workers = text === "auto" ? text : (wholeNumber(text) ?? 1)
  const connectionsText = env["DATABASE_CONNECTIONS"]?.trim() ?? ""
  const connections = connectionsText === "" ? defaultConnections : (wholeNumber(connectionsText) ?? 0)
  const refused =
    workers !== "auto" &&
    (workers > maxProcesses ||
      whySingleProcess(machine) !== undefined ||
      whyTooMany(workers, connections) !== undefined)
  return refused ? 1 : Math.max(1, processCount(workers, connections, machine))
}

/** The index of a process among the processes of an instance. */
export interface ProcessSlot {
  readonly number: number
  readonly of: number
  /** True for the first process since the supervisor started: it checks that the port is free, and reports for all. */
  readonly isFirst: boolean
}

/** Only the supervisor sets this. */
const variable = "QUITTANCE_PROCESS"

export const processSlotVariable = ({
  number,
  of,
  isFirst
}: ProcessSlot): Readonly<Record<string, string>> => ({
  [variable]: `${number}/${of}${isFirst ? " first" : ""}`
})

/** This process's index; undefined if it is the only process. */
export const processSlotIn = (env: Readonly<Record<string, string | undefined>>): ProcessSlot | undefined => {
  const match = /^(\d+)\/(\d+)( first)?$/.exec(env[variable] ?? "")
  return match === null
    ? undefined
    : { number: Number(match[1]), of: Number(match[2]), isFirst: match[3] !== undefined }
}
