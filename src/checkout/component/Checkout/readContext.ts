import type { Tell } from "../Message.ts"
import type { CheckoutContext, CheckoutService } from "../service.ts"

/** What the shop asks of buyers now: it may have changed since the page was opened. Undefined where no answer comes. */
export const readContext = async (
  service: CheckoutService,
  tell: Tell
): Promise<CheckoutContext | undefined> => {
  const context = await service.context().catch(() => undefined)
  if (context !== undefined) tell({ type: "ContextRead", context })
  return context
}
