// Reads the checkout's context from the service: the merchant, the chain and the settlement levels.
import type { CheckoutContext } from "../CheckoutContext.ts"
import type { Dispatch } from "../Message.ts"
import type { CheckoutService } from "../service.ts"

/** Polls until the context is read again. */
const contextEvery = 12

/** True if the context is due again: the chain may have halted, or continued, since the last read. */
export const isContextDue = (polls: number): boolean => polls % contextEvery === contextEvery - 1

/**
 * The shop's current requirements, which may have changed since the page was opened. Undefined without a response.
 */
export const readContext = async (
  service: CheckoutService,
  dispatch: Dispatch
): Promise<CheckoutContext | undefined> => {
  const context = await service.context().catch(() => undefined)
  if (context !== undefined) dispatch({ type: "ContextRead", context })
  return context
}
