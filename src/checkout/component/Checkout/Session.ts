// State shared by the parts of a checkout.
import type { UnverifiedIntent } from "../intentToken.ts"
import type { Message } from "../Message.ts"
import type { Model } from "../Model.ts"
import type { CheckoutService } from "../service.ts"
import type { Announcements } from "./Announcements.ts"
import type { BuyerIdentity } from "./BuyerIdentity.ts"
import type { WalletConnection } from "./WalletConnection.ts"

export interface Session {
  readonly intentToken: string
  /** The token's content; undefined if it is unreadable. */
  readonly claims: UnverifiedIntent | undefined
  readonly service: CheckoutService
  readonly wallet: WalletConnection
  readonly identity: BuyerIdentity
  readonly announcements: Announcements
  /** The current state. */
  readonly model: () => Model
  /** True if nobody has changed course or stopped the checkout since that epoch. */
  readonly isCurrent: (epoch: number) => boolean
  /** For messages that count even if they come late. */
  readonly send: (message: Message) => void
}
