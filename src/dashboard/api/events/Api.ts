// The contract of the events that pages follow.
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { everyRole } from "../../../domain/roleSets.ts"
import { allow } from "../../../platform/http/Access.ts"
import { memberGroup } from "../memberGroup.ts"

export class PageEventsApi extends memberGroup("pageEvents")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("watch", "/changes", {
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })
    })
  )
) {}
