import { isOfKey, type Refusal, ServiceError } from "./service.ts"
import type { MessageKey } from "./translate.ts"

/** Nothing was sent, and the service did not do what it was asked: what the buyer can do. */
export const refusalNotice = (error: unknown): MessageKey =>
  error instanceof ServiceError && isOfKey(error.refusal) ? "noticeKeyChanged" : "noticeUnreachable"

/** A buyer's token was refused: signed by another account, or not as the shop asks for by now. */
export const tokenNotice = ({ reason }: Pick<Refusal, "reason">): MessageKey =>
  reason === "signature" ? "noticeOtherSigner" : "noticeSignAnew"
