// The token that identifies the buyer, signed by their wallet.
import { createDidToken } from "../../../payments/buyers/createDidToken.ts"
import type { CheckoutContext } from "../CheckoutContext.ts"
import { sameHex } from "../erc20.ts"
import { askSignature, type Eip1193Provider, type Hex, WalletError } from "../wallets.ts"

/** The usual lifetime of a token, if the merchant allows it. */
const usualSeconds = 2 * 3600
/** A token with less than this part of its lifetime left is not used for a new payment. */
const reservePart = 1 / 8

interface Identity {
  readonly token: string
  readonly account: string
  /** The time after which the token is not reused, in Unix seconds. */
  readonly goodUntil: number
}

const seconds = () => Math.floor(Date.now() / 1000)

const hexOfUtf8 = (text: string): Hex => {
  let hex: Hex = "0x"
  for (const byte of new TextEncoder().encode(text)) hex = `${hex}${byte.toString(16).padStart(2, "0")}`
  return hex
}

export class BuyerIdentity {
  readonly #paymentId: string | undefined
  #identity: Identity | undefined

  constructor(paymentId: string | undefined) {
    this.#paymentId = paymentId
  }

  /** True if there is a valid token of the account. */
  isKnown(account: string): boolean {
    const identity = this.#identity
    return identity !== undefined && sameHex(identity.account, account) && identity.goodUntil > seconds()
  }

  forget(): void {
    this.#identity = undefined
  }

  /** The existing token, or a new one that the wallet is prompted to sign. */
  async token(
    account: string,
    wallet: { readonly provider: Eip1193Provider },
    context: CheckoutContext | undefined
  ): Promise<string> {
    if (this.#identity !== undefined && this.isKnown(account)) return this.#identity.token
    const { provider } = wallet
    if (context?.open !== true) throw new WalletError("unauthorized", "live payments are not open")
    const now = seconds()
    const lifetimeSeconds = Math.min(usualSeconds, context.tokenLifetimeSeconds ?? usualSeconds)
    const token = await createDidToken(
      {
        address: account,
        signMessage: ({ message }) => askSignature(provider, "personal_sign", [hexOfUtf8(message), account])
      },
      {
        audience: context.audience,
        lifetimeSeconds,
        // By the service's clock, because the service checks it.
        now: now + Math.floor(context.skew / 1000),
        // Valid only for this payment.
        ...(this.#paymentId === undefined ? {} : { id: this.#paymentId })
      }
    )
    this.#identity = { token, account, goodUntil: now + Math.floor(lifetimeSeconds * (1 - reservePart)) }
    return token
  }
}
