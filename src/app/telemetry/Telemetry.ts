// Gauges and clock checks for operators, and the listener that Prometheus scrapes.
import { Layer } from "effect"
import { ClockRepo } from "../../platform/database/ClockRepo.ts"
import * as DatabaseClock from "../../platform/database/DatabaseClock.ts"
import * as ClockWatch from "./ClockWatch.ts"
import * as Gauges from "./Gauges.ts"
import * as MetricsListener from "./MetricsListener.ts"
import * as WorkWatch from "./WorkWatch.ts"

export const layer = Layer.mergeAll(
  // The service uses the database's clock, but this checks the machine's own.
  ClockWatch.layer.pipe(Layer.provide([ClockRepo.layer, DatabaseClock.layerMachine])),
  WorkWatch.layer,
  Gauges.layer,
  MetricsListener.layer
)
