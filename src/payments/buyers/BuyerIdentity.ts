// Verifies an identity token and returns the buyer's wallet address. The payer of a transfer must be this address, so
// every doubt is a refusal.
import { Clock, Context, Effect, Layer } from "effect"
import { hashMessage } from "viem"
import { parseAddress } from "../../chain/Address.ts"
import { ContractSignatures } from "../../chain/ContractSignatures.ts"
import { SignatureRecovery } from "../../chain/SignatureRecovery.ts"
import type { Address, Env } from "../../domain/Chain.ts"
import { BuyerTokenRefused } from "./BuyerTokenRefused.ts"
import { judgeDidClaim, readDidToken } from "./DidToken.ts"

export interface BuyerExpectation {
  /** The token's audience must be one of these: the service's origin, or the merchant's audience. */
  readonly audiences: ReadonlyArray<string>
  /** The chain on which a contract wallet's signature is checked. */
  readonly env: Env
  /** Checked before the chain is queried, which only a contract wallet's token requires. True by default. */
  readonly mayAskChain?: Effect.Effect<boolean>
  /** A token with a longer lifetime is refused. No limit by default. */
  readonly maxSeconds?: number
}

/** The content of a valid token: the wallet, and the token's own id. */
export interface ProvenBuyer {
  readonly address: Address
  /** `tid` of a DID token. The id of a payment binds the token to it. */
  readonly tokenId: string | undefined
}

export class BuyerIdentity extends Context.Service<
  BuyerIdentity,
  {
    readonly verify: (
      token: string,
      expect: BuyerExpectation
    ) => Effect.Effect<ProvenBuyer, BuyerTokenRefused>
  }
>()("quittance/payments/BuyerIdentity") {
  /** DID tokens that a wallet signs itself, or that Magic's SDK creates. */
  static readonly layerDid: Layer.Layer<BuyerIdentity, never, ContractSignatures> = Layer.effect(
    BuyerIdentity,
    Effect.gen(function* () {
      const contracts = yield* ContractSignatures
      const recoverAddress = yield* SignatureRecovery
      return {
        verify: Effect.fn("BuyerIdentity.verify")(function* (text, expect) {
          const token = yield* readDidToken(text)
          const now = (yield* Clock.currentTimeMillis) / 1000
          const address = yield* judgeDidClaim(token, expect, now)
          const proven: ProvenBuyer = { address, tokenId: token.id }
          // The chain is queried only if the plain signature does not decide.
          const hash = hashMessage(token.claim)
          if ((yield* recoverAddress(hash, token.proof)) === address) return proven
          if (expect.mayAskChain !== undefined && !(yield* expect.mayAskChain)) {
            return yield* BuyerTokenRefused.because("signature")
          }
          const accepted = yield* contracts
            .verify(expect.env, address, hash, token.proof)
            .pipe(Effect.mapError(() => BuyerTokenRefused.because("unavailable")))
          return accepted ? proven : yield* BuyerTokenRefused.because("signature")
        })
      }
    })
  )

  /** For tests: the token `buyer:<address>` proves that address, `buyer:<address>:<id>` has an id too. */
  static readonly layerMemory: Layer.Layer<BuyerIdentity> = Layer.succeed(BuyerIdentity, {
    verify: (token) => {
      const [kind, text = "", tokenId] = token.split(":")
      const address = kind === "buyer" ? parseAddress(text) : undefined
      return address === undefined
        ? Effect.fail(BuyerTokenRefused.because("malformed"))
        : Effect.succeed({ address, tokenId })
    }
  })
}
