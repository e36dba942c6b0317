import { isOfKey, type Refusal, ServiceError } from "./service.ts"
import type { MessageKey } from "./translate.ts"

/** The notice for a buyer whose request the service refused before anything was sent. */
export const refusalNotice = (error: unknown): MessageKey =>
  error instanceof ServiceError && isOfKey(error.refusal) ? "noticeKeyChanged" : "noticeUnreachable"

/** The notice for a refused buyer's token: another account signed it, or the shop has changed its requirements. */
export const tokenNotice = ({ reason }: Pick<Refusal, "reason">): MessageKey =>
  reason === "signature" ? "noticeOtherSigner" : "noticeSignatureRejected"
