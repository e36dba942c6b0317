// Writes JSON responses without encoding them twice.
import { HttpServerResponse } from "effect/http"

/**
 * A JSON body as a response. Each caller's type is the contract's encoded one, so the body is written as it is:
 * encoding it by its schema again would cost a tenth of a request.
 */
export const jsonResponse = (
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse => HttpServerResponse.jsonUnsafe(body, { status, headers })
