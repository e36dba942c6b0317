// Requests the address for buyers who send from an exchange or another device.
import { noteAddressShown } from "../attempt.ts"
import { sameHex } from "../erc20.ts"
import type { Dispatch } from "../Message.ts"
import { refusalNotice } from "../refusalNotice.ts"
import type { Session } from "./Session.ts"

/** Reads the address for a transfer from anywhere. */
export const readAddress = async ({ claims, model, service }: Session, dispatch: Dispatch): Promise<void> => {
  const { payment } = model()
  if (payment === undefined) return
  try {
    const address = await service.address(payment.id)
    // The service's address must be the one in the intent.
    const { receiver } = claims ?? {}
    if (receiver === undefined || !sameHex(address.address, receiver))
      return dispatch({ type: "AddressUnread" })
    noteAddressShown(payment.id)
    dispatch({ type: "AddressRead", address })
  } catch (error) {
    dispatch({ type: "AddressUnread", notice: refusalNotice(error) })
  }
}
