// Reports take turns, so that a flood of them barely delays other requests.
import { Context, Effect, Layer } from "effect"
import { LoopTurns } from "../platform/workers/LoopTurns.ts"

/** Completes when it is the report's turn; immediately by default. */
export const ReportTurns = Context.Reference<Effect.Effect<void>>("quittance/payments/ReportTurns", {
  defaultValue: () => Effect.void
})

export const layer: Layer.Layer<never> = Layer.effect(
  ReportTurns,
  Effect.sync(() => new LoopTurns().take)
)
