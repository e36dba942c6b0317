// The number of processes that WORKERS requests, and this process's index. It is read before the service is loaded, so
// it has few imports.

/** The connections that one process needs at least: with fewer, its transactions would wait for each other. */
export const leastConnections = 4
export const defaultConnections = 16
export const mostProcesses = 64

export interface Machine {
  readonly cores: number
  readonly platform: string
}

/** Several processes listen on one port, and the kernel divides what comes, on Linux alone. */
export const whyAlone = ({ platform }: Machine): string | undefined =>
  platform === "linux"
    ? undefined
    : "WORKERS must be 1 or `auto` here: only Linux divides the requests to one port among processes. Start several instances behind a balancer instead"

/** `auto` is one for each core, as far as the connections to the database go. */
export const processCount = (workers: "auto" | number, connections: number, machine: Machine): number => {
  if (workers !== "auto") return workers
  if (whyAlone(machine) !== undefined) return 1
  return Math.max(1, Math.min(machine.cores, Math.floor(connections / leastConnections), mostProcesses))
}

/** The reason why so many have too few connections. */
export const whyTooMany = (workers: "auto" | number, connections: number): string | undefined =>
  workers === "auto" || workers === 1 || workers * leastConnections <= connections
    ? undefined
    : `DATABASE_CONNECTIONS must be ${workers * leastConnections} or more for WORKERS=${workers}: each process needs ${leastConnections}. Set it, and see that the database takes so many (max_connections), or set fewer WORKERS`

/** Parses a number exactly as the service does. */
const wholeNumber = (text: string): number | undefined => {
  const number = Number(text)
  return text !== "" && Number.isInteger(number) && number >= 0 ? number : undefined
}

/** The number of processes to supervise; 1 also for values that the service itself rejects with its own message. */
export const processesAsked = (
  env: Readonly<Record<string, string | undefined>>,
  machine: Machine
): number => {
  const text = env["WORKERS"]?.trim() ?? ""
  const workers = text === "auto" ? text : (wholeNumber(text) ?? 1)
  const given = env["DATABASE_CONNECTIONS"]?.trim() ?? ""
  const connections = given === "" ? defaultConnections : (wholeNumber(given) ?? 0)
  const refused =
    workers !== "auto" &&
    (workers > mostProcesses ||
      whyAlone(machine) !== undefined ||
      whyTooMany(workers, connections) !== undefined)
  return refused ? 1 : Math.max(1, processCount(workers, connections, machine))
}

/** The index of a process among the processes of an instance. */
export interface Sibling {
  readonly number: number
  readonly of: number
  /** The first since the supervisor was started: it finds the port free, and speaks for all. */
  readonly isFirst: boolean
}

/** Set by the supervisor alone. */
const variable = "QUITTANCE_PROCESS"

export const siblingVariable = ({ number, of, isFirst }: Sibling): Readonly<Record<string, string>> => ({
  [variable]: `${number}/${of}${isFirst ? " first" : ""}`
})

/** Which process this is; undefined where it is the only one. */
export const siblingIn = (env: Readonly<Record<string, string | undefined>>): Sibling | undefined => {
  const match = /^(\d+)\/(\d+)( first)?$/.exec(env[variable] ?? "")
  return match === null
    ? undefined
    : { number: Number(match[1]), of: Number(match[2]), isFirst: match[3] !== undefined }
}
