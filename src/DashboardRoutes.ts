// The dashboard over HTTP, apart from the other routes: with its first request it is loaded and made.
import { Layer } from "effect"
import { DashboardApi } from "./dashboard/Api.ts"
import * as Dashboard from "./dashboard/Dashboard.ts"
import { dashboardPaths } from "./dashboard/Pages.ts"
import { layerAnswers } from "./http/Answers.ts"
import { layerBodyRules } from "./http/RequestRules/layerBodyRules.ts"
import { endpointsOf } from "./http/Routing/pathTable.ts"
import * as Routing from "./http/Routing.ts"

export const layer = Layer.merge(
  Dashboard.layer.pipe(Layer.provide([layerBodyRules, layerAnswers])),
  Routing.layer(endpointsOf(DashboardApi), dashboardPaths, [])
)
