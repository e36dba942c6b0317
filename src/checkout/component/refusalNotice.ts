// Chooses the notice for a refusal by the service.
import { concernsKey, ServiceError, type ServiceRefusal } from "./service.ts"
import type { MessageKey } from "./translate.ts"

/** The notice for a buyer whose request the service refused before anything was sent. */
export const refusalNotice = (error: unknown): MessageKey =>
  error instanceof ServiceError && concernsKey(error.refusal) ? "noticeKeyChanged" : "noticeUnreachable"

/** The notice when a buyer's token is refused: another account signed it, or the shop has changed its requirements. */
export const tokenNotice = ({ reason }: Pick<ServiceRefusal, "reason">): MessageKey =>
  reason === "signature" ? "noticeOtherSigner" : "noticeSignatureRejected"
