// The envelope of every error. Its schema is the source of the contract's errors, of the OpenAPI component and of the
// page with all codes.
import { Schema, SchemaGetter, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { type ErrorCode, errorCodes } from "../../domain/ErrorCode.ts"
import type { CodedError, ErrorFields } from "../../domain/Errors.ts"

/** One invalid place in a request. */
export const Detail = Schema.Struct({
  path: Schema.String.annotate({
    description: "The location: a place in the body, path or query, or a field of the payment.",
    examples: ["body.amount"]
  }),
  message: Schema.String.annotate({ description: "The error at this path, and the value to send instead." }),
  expected: Schema.optionalKey(Schema.String),
  actual: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "ErrorDetail" })

/** The fields of `error`, with `code` narrowed to these codes. */
export const ErrorBody = <const C extends ReadonlyArray<ErrorCode>>(codes: C) =>
  Schema.Struct({
    code: Schema.Literals(codes).annotate({ description: "Stable and machine-readable." }),
    message: Schema.String.annotate({ description: "The remedy, for the developer." }),
    requestId: Schema.String.annotate({ description: "Also in the header `x-request-id`." }),
    docUrl: Schema.String.annotate({ description: "The page that explains the code.", format: "uri" }),
    retryable: Schema.Boolean.annotate({ description: "True if the same request may succeed later." }),
    reason: Schema.optionalKey(
      Schema.String.annotate({ description: "A more specific cause, if the code has several." })
    ),
    details: Schema.optionalKey(Schema.Array(Detail))
  })

/** The envelope with any code of the catalogue. */
export const Envelope = Schema.Struct({ error: ErrorBody(Struct.keys(errorCodes)) }).annotate({
  identifier: "ErrorEnvelope",
  description: "The envelope of every error."
})

interface CodedErrorClass<E extends CodedError> {
  readonly code: E["code"]
  new (fields?: ErrorFields): E
}

/** The contract of one tagged error: its status, and the envelope with its code. */
export const errorResponse = <E extends CodedError>(errorClass: CodedErrorClass<E>) =>
  Schema.Struct({ error: ErrorBody([errorClass.code]) })
    .annotate({ description: errorCodes[errorClass.code].summary })
    .pipe(
      Schema.decodeTo(Schema.instanceOf(errorClass), {
        decode: SchemaGetter.transform(
          ({ error }) =>
            new errorClass({
              message: error.message,
              ...(error.reason === undefined ? {} : { reason: error.reason }),
              ...(error.details === undefined ? {} : { details: error.details })
            })
        ),
        // `ResponseEnvelope` writes errors, because it knows the request's id and the service's URL.
        encode: SchemaGetter.forbidden(() => "Errors are encoded by errorBody.")
      }),
      HttpApiSchema.status(errorCodes[errorClass.code].status)
    )

/** The envelope's `error`. `baseUrl` is the service's own, which has the code's page. */
export const errorBody = <Code extends ErrorCode>(
  error: Pick<CodedError, "reason" | "details"> & { readonly code: Code; readonly message: string },
  requestId: string,
  baseUrl: string
) => ({
  code: error.code,
  message: error.message,
  requestId,
  docUrl: `${baseUrl}/docs/errors#${error.code}`,
  retryable: errorCodes[error.code].retryable === true,
  ...(error.reason === undefined ? {} : { reason: error.reason }),
  ...(error.details === undefined ? {} : { details: error.details })
})
