// The contract of the events that pages follow.
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { everyRole } from "../../../domain/roleSets.ts"
import { allow, endpointGroup } from "../../../platform/http/Access.ts"
import { BodyRules } from "../../../platform/http/RequestRules.ts"
import { MemberRequired, SameOrigin, SessionRequired } from "../Session.ts"

export class PageEventsApi extends endpointGroup("pageEvents")(
  allow(
    { by: "member", roles: everyRole },
    HttpApiEndpoint.get("watch", "/changes", {
      success: HttpApiSchema.StreamUint8Array({ contentType: "text/event-stream" })
    })
  )
)
  .prefix("/merchants/:merchantId/:env")
  .middleware(BodyRules)
  .middleware(MemberRequired)
  .middleware(SessionRequired)
  .middleware(SameOrigin) {}
