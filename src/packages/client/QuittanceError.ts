// A failed call, with the fields of the service's error envelope.
import type { ErrorCode } from "../../domain/ErrorCode.ts"

export interface QuittanceErrorDetail {
  readonly path: string
  readonly message: string
  readonly expected?: string
  readonly actual?: string
}

/** `NO_ANSWER`: no complete response (network, time-out). `UNKNOWN_ANSWER`: not the service's response. */
export type QuittanceErrorCode = ErrorCode | "NO_ANSWER" | "UNKNOWN_ANSWER"

export interface QuittanceErrorFields {
  readonly code: QuittanceErrorCode
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  readonly message: string
  readonly requestId?: string | undefined
  /** True if the same call may succeed later. */
  readonly retryable: boolean
  readonly reason?: string | undefined
  readonly details?: ReadonlyArray<QuittanceErrorDetail> | undefined
  readonly docUrl?: string | undefined
  /** Seconds to wait, if the service sent `retry-after`. */
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** Thrown by every method of the client. Switch on `code`: codes are stable. */
export class QuittanceError extends Error {
  override readonly name = "QuittanceError"
  readonly code: QuittanceErrorCode
  readonly status: number
  readonly requestId: string | undefined
  readonly retryable: boolean
  readonly reason: string | undefined
  readonly details: ReadonlyArray<QuittanceErrorDetail>
  readonly docUrl: string | undefined
  readonly retryAfter: number | undefined

  constructor(fields: QuittanceErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.status = fields.status
    this.requestId = fields.requestId
    this.retryable = fields.retryable
    this.reason = fields.reason
    this.details = fields.details ?? []
    this.docUrl = fields.docUrl
    this.retryAfter = fields.retryAfter
  }
}
