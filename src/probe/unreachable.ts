// Statuses that say nothing of what was sent: it did not come to be judged.

const reasons: { readonly [status: number]: string } = {
  401: "401: the key is not taken, so what was sent was not judged",
  404: "404: nothing is there",
  405: "405: nothing there takes the method",
  415: "415: nothing there takes JSON",
  429: "429: a rate limit answers; probe again later, or raise it",
  503: "503: the service is out of order, or a node or database that it asks; probe again when it is back"
}

const outage = 503

/** Of those, the ones that say nothing wherever a 4xx is a refusal. */
export const unanswered = (status: number): string | undefined =>
  status === 429 || status === outage ? reasons[status] : undefined

/** Why answers on one connection, one of them a 503, say nothing. */
export const outageAmong = (statuses: ReadonlyArray<number>): string | undefined =>
  statuses.includes(outage) ? reasons[outage] : undefined

export const unreachable = (status: number): string | undefined => reasons[status]
