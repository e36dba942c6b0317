// The dashboard over HTTP. It is separate from the other routes because its first request loads it.
import { Layer } from "effect"
import { DashboardApi } from "../dashboard/api/Api.ts"
import * as Dashboard from "../dashboard/api/Dashboard.ts"
import { dashboardPaths } from "../dashboard/api/Pages.ts"
import { layerBodyRules } from "../platform/http/RequestRules/layerBodyRules.ts"
import { layerResponseEnvelope } from "../platform/http/ResponseEnvelope.ts"
import { endpointsOf } from "../platform/http/Routing/pathTable.ts"
import * as Routing from "../platform/http/Routing.ts"

export const layer = Layer.merge(
  Dashboard.layer.pipe(Layer.provide([layerBodyRules, layerResponseEnvelope])),
  Routing.layer(endpointsOf(DashboardApi), dashboardPaths, [])
)
