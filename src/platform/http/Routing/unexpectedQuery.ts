// The refusal of query parameters if none are declared.
import type { HttpServerRequest } from "effect/http"
import { InvalidRequest } from "../../../domain/Errors.ts"

/** Endpoints with query parameters check them by their schema; the others accept none. */
export const unexpectedQuery = (request: HttpServerRequest.HttpServerRequest) => {
  const at = request.url.indexOf("?")
  if (at === -1 || at === request.url.length - 1) return undefined
  const names = [...new Set(new URLSearchParams(request.url.slice(at)).keys())]
  return new InvalidRequest({
    details: names.slice(0, 20).map((name) => ({
      path: `query.${name}`.slice(0, 200),
      message: "This endpoint takes no query parameters."
    }))
  })
}
