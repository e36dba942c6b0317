// Enters a state and clears what belonged to the previous one.
import type { CheckoutState, Model } from "../Model.ts"

export const enter = (model: Model, state: CheckoutState, changes: Partial<Model> = {}): Model => ({
  ...model,
  step: undefined,
  busy: undefined,
  notice: undefined,
  reason: undefined,
  code: undefined,
  ...changes,
  state
})

/** Like `enter`, but drops work in progress. */
export const leave = (model: Model, state: CheckoutState, changes: Partial<Model> = {}): Model =>
  enter(model, state, { epoch: model.epoch + 1, ...changes })
