// What the supervisor and the processes of an instance tell each other.

/** To a process: end, as another has taken your place; one has left, take your part again; tell your metrics. */
export type Order = "leave" | "left" | "metrics"

/** From a process, once it serves. */
export interface Ready {
  readonly tag: "ready"
  /** Where metrics are asked for. */
  readonly metrics: { readonly host: string; readonly port: number } | null
}

export interface Told {
  readonly tag: "metrics"
  readonly text: string
}

export type Notice = Ready | Told

export const orders = (message: unknown): Order | undefined =>
  message === "leave" || message === "left" || message === "metrics" ? message : undefined
