// Reports take turns: a flood of them holds up little of what else comes.
import { Context, Effect, Layer } from "effect"
import { LoopTurns } from "../platform/workers/LoopTurns.ts"

/** Completes when it is the report's turn; at once, where nobody says otherwise. */
export const ReportTurns = Context.Reference<Effect.Effect<void>>("quittance/payments/ReportTurns", {
  defaultValue: () => Effect.void
})

export const layer: Layer.Layer<never> = Layer.effect(
  ReportTurns,
  Effect.sync(() => new LoopTurns().take)
)
