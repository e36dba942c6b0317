// An error of the dashboard's API, in words for a person.
import { pluralised } from "../../domain/pluralised.ts"
import type { Envelope } from "../../platform/http/Envelope.ts"

type EnvelopeError = (typeof Envelope.Encoded)["error"]

type Failure = Pick<EnvelopeError, "message"> &
  Partial<Omit<EnvelopeError, "code">> & { readonly code: string }

const waitText = (seconds: number) =>
  seconds > 120 ? pluralised(Math.ceil(seconds / 60), "minute") : pluralised(seconds, "second")

/** For a person: the catalogue's sentences tell a developer which field or header has the reason. */
const sentenceOf = ({ code, details = [], message }: Failure, retryAfter: number | undefined): string => {
  if (code === "RATE_LIMITED" && retryAfter !== undefined)
    return `Too many attempts. Try again in ${waitText(retryAfter)}.`
  return code === "INVALID_REQUEST" && details.length > 0
    ? details.map((detail) => detail.message).join(" ")
    : message
}

/** An expected failure: the envelope's content. Status 0: the service did not respond (`OFFLINE` or `BLOCKED`). */
export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  readonly code: string
  readonly details: NonNullable<EnvelopeError["details"]>
  readonly requestId: string
  /** `retryAfter`: the header, in seconds. */
  constructor(status: number, error: Failure, retryAfter?: number) {
    super(sentenceOf(error, retryAfter))
    this.status = status
    this.code = error.code
    this.details = error.details ?? []
    this.requestId = error.requestId ?? ""
  }

  /** The error of one field of the body, or undefined. */
  of(field: string): string | undefined {
    return this.details.find(({ path }) => path === `body.${field}`)?.message
  }
}
