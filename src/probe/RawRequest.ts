// A hostile request as bytes, and how a server that reads HTTP/1.1 soundly takes it.

/**
 * `refuse`: 4xx, 501 or 505, and closed: where the message ends cannot be known.
 * `once`: refused, or answered once, and closed.
 * `reject`: 4xx, 501 or 505; what follows may be answered.
 * `wait`: refused, or waited for: what is announced is never sent.
 * `separate`: refused, or read as one request, and the next as the next.
 */
export type RawOutcome = "refuse" | "once" | "reject" | "wait" | "separate"

export const outcomes: { readonly [O in RawOutcome]: string } = {
  refuse: "refused (4xx, 501, 505) and closed",
  once: "refused, or answered once, and closed",
  reject: "refused (4xx, 501, 505)",
  wait: "refused, or the rest waited for",
  separate: "refused, or two requests answered as two"
}

/** Of the request that everything is built around. */
export interface Place {
  readonly host: string
  /** Of a GET. */
  readonly target: string
  readonly postTarget: string
  /** Lines such as an authorization, each ended by CR LF. */
  readonly lines: string
}

export interface RawRequest {
  readonly name: string
  readonly reference: string
  readonly outcome: RawOutcome
  /** In latin1. A second request is sent behind it on the same connection. */
  readonly bytes: (place: Place) => string
}

/** A request inside a body: a server that answers it is vulnerable to smuggling. */
export const smuggledIn = ({ host }: Place): string => `GET /probe-smuggled HTTP/1.1\r\nHost: ${host}\r\n\r\n`

/** A POST with these header lines, and a JSON body's type. */
export const post = (
  { host, postTarget, lines }: Place,
  headers: ReadonlyArray<string>,
  body: string
): string =>
  `POST ${postTarget} HTTP/1.1\r\nHost: ${host}\r\n${lines}Content-Type: application/json\r\n${headers
    .map((line) => `${line}\r\n`)
    .join("")}\r\n${body}`

export const get = ({ host, target, lines }: Place, headers: ReadonlyArray<string>): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${lines}${headers.map((line) => `${line}\r\n`).join("")}\r\n`
