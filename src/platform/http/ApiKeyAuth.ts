// The contract of authentication: a bearer key and its principal.
import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import {
  InvalidApiKey,
  KeyKindNotAllowed,
  LiveModeNoTestFunds,
  ManagePermissionRequired,
  RateLimited
} from "../../domain/Errors.ts"
import type { Principal } from "../../domain/Merchant.ts"
import { errorResponse } from "./Envelope.ts"

/** The principal of the request's key. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "quittance/platform/CurrentPrincipal"
) {}

/** `Authorization: Bearer <KEY>`. The endpoint's access declares which keys may call, also for OpenAPI. */
export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth, { provides: CurrentPrincipal }>()(
  "quittance/platform/ApiKeyAuth",
  {
    error: [
      errorResponse(InvalidApiKey),
      errorResponse(KeyKindNotAllowed),
      errorResponse(ManagePermissionRequired),
      errorResponse(RateLimited)
    ]
  }
) {}

/** The test rail refuses live keys (docs/contract.md 1). */
export class TestRail extends HttpApiMiddleware.Service<TestRail, { requires: CurrentPrincipal }>()(
  "quittance/platform/TestRail",
  { error: errorResponse(LiveModeNoTestFunds) }
) {}
