// The two middlewares of every endpoint, with the errors that they return: bodies are small UTF-8 JSON objects, and
// errors come in the envelope.
import { HttpApiMiddleware } from "effect/http-api"
import {
  IdempotencyKeyNotAccepted,
  InternalError,
  InvalidJson,
  InvalidRequest,
  PayloadTooLarge,
  RequestTimeout,
  ServiceUnavailable,
  UnsupportedMediaType
} from "../../domain/Errors.ts"
import { errorResponse } from "./Envelope.ts"

/** Checks a mutation's headers and body before it is decoded. */
export class BodyRules extends HttpApiMiddleware.Service<BodyRules>()("quittance/platform/BodyRules", {
  error: [
    errorResponse(IdempotencyKeyNotAccepted),
    errorResponse(InvalidJson),
    errorResponse(InvalidRequest),
    errorResponse(PayloadTooLarge),
    errorResponse(RequestTimeout),
    errorResponse(UnsupportedMediaType)
  ]
}) {}

/** Converts each expected failure into the envelope and sets the headers of every response. */
export class ResponseEnvelope extends HttpApiMiddleware.Service<ResponseEnvelope>()(
  "quittance/platform/ResponseEnvelope",
  {
    error: [errorResponse(InvalidRequest), errorResponse(InternalError), errorResponse(ServiceUnavailable)]
  }
) {}
