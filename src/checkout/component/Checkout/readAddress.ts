import { noteAddressShown } from "../attempt.ts"
import { sameHex } from "../erc20.ts"
import type { Tell } from "../Message.ts"
import { refusalNotice } from "../refusalNotice.ts"
import type { Session } from "./Session.ts"

/** Asks the service where to send the amount from anywhere. */
export const readAddress = async ({ claims, model, service }: Session, tell: Tell): Promise<void> => {
  const { payment } = model()
  if (payment === undefined) return
  try {
    const address = await service.address(payment.id)
    // What the service says is held against what the intent names.
    const { receiver } = claims ?? {}
    if (receiver === undefined || !sameHex(address.address, receiver)) return tell({ type: "AddressUnread" })
    noteAddressShown(payment.id)
    tell({ type: "AddressRead", address })
  } catch (error) {
    tell({ type: "AddressUnread", notice: refusalNotice(error) })
  }
}
