import type { CheckoutContext } from "../CheckoutContext.ts"
import type { Tell } from "../Message.ts"
import type { CheckoutService } from "../service.ts"

/**
 * The shop's current requirements, which may have changed since the page was opened. Undefined without a response.
 */
export const readContext = async (
  service: CheckoutService,
  tell: Tell
): Promise<CheckoutContext | undefined> => {
  const context = await service.context().catch(() => undefined)
  if (context !== undefined) tell({ type: "ContextRead", context })
  return context
}
