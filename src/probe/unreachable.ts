// Statuses that say nothing of what was sent: it did not come to be judged.

const reasons: { readonly [status: number]: string } = {
  401: "401: the key is not taken, so what was sent was not judged",
  404: "404: nothing is there",
  405: "405: nothing there takes the method",
  415: "415: nothing there takes JSON",
  429: "429: a rate limit answers; probe again later, or raise it"
}

export const unreachable = (status: number): string | undefined => reasons[status]
