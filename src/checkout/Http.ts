// The checkout, the test rail and the playground over HTTP.

import { DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../app/Api.ts"
import { parseAddress } from "../chain/Address.ts"
import { ChainHeights } from "../chain/ChainHeights.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { Faucet } from "../chain/faucet/Faucet.ts"
import { grantView } from "../chain/faucet/grantView.ts"
import { orChainUnavailable } from "../chain/orChainUnavailable.ts"
import type { Balance } from "../chain/Verification.ts"
import type { Address } from "../domain/Chain.ts"
import {
  KeyKindNotAllowed,
  NotFound,
  PaymentNotFound,
  PlaygroundTestnetOnly,
  RateLimited
} from "../domain/Errors.ts"
import { UsdAmount } from "../domain/Money.ts"
import { faucetNetwork, hasFaucet, isTest, networks } from "../domain/networks.ts"
import { PaymentId } from "../domain/Payment.ts"
import { Branding, logoUrlOf } from "../merchants/Branding.ts"
import { KeyAuth } from "../merchants/keys/KeyAuth.ts"
import { SettlementLimits } from "../merchants/settlementLevels/SettlementLimits.ts"
import { audiencesOf } from "../payments/buyers/audiencesOf.ts"
import { BuyerIdentity } from "../payments/buyers/BuyerIdentity.ts"
import { BuyerTokenRefused, refusalOf } from "../payments/buyers/BuyerTokenRefused.ts"
import { PaymentIntents } from "../payments/intents/PaymentIntents.ts"
import { PaymentRepo } from "../payments/PaymentRepo.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { CurrentPrincipal } from "../platform/http/ApiKeyAuth.ts"
import { jsonResponse } from "../platform/http/jsonResponse.ts"
import { clientAddressOf } from "../platform/http/RequestContext.ts"
import { RateLimiter } from "../platform/limits/RateLimiter.ts"
import type { Limit } from "../platform/limits/RequestLimits.ts"
import { Networks } from "../platform/Networks.ts"
import { deliveryView } from "../webhooks/Http.ts"
import { WebhookRepo } from "../webhooks/WebhookRepo.ts"
import { playgroundAmounts } from "./Api.ts"
import { browserNode } from "./browserNode.ts"

const balanceView = ({ usdcAtomic, gasWei }: Balance) => ({
  usdcAtomic: usdcAtomic.toString(),
  gasWei: gasWei.toString()
})

const context = HttpApiBuilder.group(
  Api,
  "checkout",
  Effect.fnUntraced(function* (handlers) {
    const faucet = yield* Faucet
    const config = yield* AppConfig
    const { executes } = yield* Networks
    const { baseUrl } = config

    const reach = yield* ChainHeights
    const brandings = yield* Branding
    const settlementLimits = yield* SettlementLimits

    return handlers.handle(
      "context",
      Effect.fnUntraced(function* () {
        const { merchant, env } = yield* CurrentPrincipal
        const branding = yield* brandings.find(merchant.id)
        const logoUrl = logoUrlOf(branding) ?? merchant.logoUrl
        const { chainId, name, usdc } = networks[env]
        const explorerUrl = config.explorerUrls[env]
        const rpcUrl = browserNode(config, env)
        const haltedSince = reach.haltedSince(env)
        const [audience = baseUrl] = audiencesOf(merchant, baseUrl)
        return {
          merchant: {
            name: merchant.name,
            ...(logoUrl === null ? {} : { logoUrl }),
            ...(branding.accentColor === null ? {} : { accentColor: branding.accentColor }),
            ...(branding.support === null ? {} : { support: branding.support })
          },
          env,
          livemode: !isTest(env),
          open: executes(env),
          settlement: (yield* settlementLimits.levels({ merchantId: merchant.id, env })).map(
            ({ seconds, upTo }) => ({
              ...(upTo === null ? {} : { upTo: upTo.toString() }),
              seconds
            })
          ),
          now: (yield* DateTime.nowAsDate).toISOString(),
          paymentExpirySeconds: Math.floor(Duration.toSeconds(config.paymentExpiry)),
          audience,
          tokenLifetimeSeconds: merchant.tokenLifetimeSeconds,
          chain: {
            id: chainId,
            name,
            ...(explorerUrl === null ? {} : { explorerUrl }),
            ...(rpcUrl === undefined ? {} : { rpcUrl }),
            ...(haltedSince === undefined ? {} : { haltedSince: haltedSince.toISOString() })
          },
          token: { address: usdc.address, chainId, symbol: usdc.symbol, decimals: usdc.decimals },
          receiver: merchant.receivers[env],
          faucet: {
            enabled: hasFaucet(env) && faucet.offer.enabled,
            usdcAtomic: faucet.offer.usdcAtomic.toString()
          },
          ...(Option.isSome(config.onrampUrl) ? { onrampUrl: config.onrampUrl.value } : {}),
          ...(Option.isSome(config.walletConnect) ? { walletConnect: config.walletConnect.value } : {}),
          playgroundAmounts: [...playgroundAmounts]
        }
      })
    )
  })
)

const paymentIdIn = Schema.decodeUnknownOption(PaymentId)

/** Requests for test funds per client address, granted or not: 20 a minute, 30 at once. */
const fundsLimit: Limit = { rate: 20, perSeconds: 60, burst: 30 }

const testRail = HttpApiBuilder.group(
  Api,
  "testRail",
  Effect.fnUntraced(function* (handlers) {
    const chain = yield* ChainVerifier
    const faucet = yield* Faucet
    const buyers = yield* BuyerIdentity
    const payments = yield* PaymentRepo
    const webhooks = yield* WebhookRepo
    const limiter = yield* RateLimiter
    const { baseUrl, trustedProxyHops, environment } = yield* AppConfig

    const readBalance = (address: Address) =>
      chain.readBalance(faucetNetwork.env, address).pipe(orChainUnavailable)

    return handlers.handleAll({
      balance: ({ query }) =>
        Effect.map(readBalance(parseAddress(query.address) ?? query.address), (balance) => ({
          balance: balanceView(balance)
        })),
      delivery: Effect.fnUntraced(function* ({ query }) {
        if (environment !== "development") return yield* new NotFound()
        const { merchant, env } = yield* CurrentPrincipal
        const tenant = { merchantId: merchant.id, env }
        if (Option.isNone(yield* payments.find(tenant, query.paymentId))) return yield* new PaymentNotFound()
        const ofPayment = yield* webhooks.findOfPayment(tenant, query.paymentId)
        return {
          delivery: Option.match(ofPayment, {
            onNone: () => null,
            onSome: ({ delivery, body }) => ({
              ...deliveryView(delivery),
              payload: new TextDecoder().decode(body)
            })
          })
        }
      }),
      funds: Effect.fnUntraced(function* ({ payload, request }) {
        const { merchant } = yield* CurrentPrincipal
        const clientAddress = clientAddressOf(request, trustedProxyHops)
        // A contract wallet's token makes the service query the chain, so the limit is checked first.
        const wait = yield* limiter.take(`test-funds ${clientAddress}`, fundsLimit)
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        yield* faucet.checkLimits({ merchantId: merchant.id, clientAddress })
        const { address, tokenId } = yield* buyers
          .verify(payload.buyerDidToken, {
            audiences: audiencesOf(merchant, baseUrl),
            env: faucetNetwork.env,
            maxSeconds: merchant.tokenLifetimeSeconds
          })
          .pipe(Effect.mapError(refusalOf))
        // A token for a payment is valid only at its own shop.
        const bound = paymentIdIn(tokenId?.toLowerCase())
        if (Option.isSome(bound)) {
          const own = yield* payments.find({ merchantId: merchant.id, env: faucetNetwork.env }, bound.value)
          if (Option.isNone(own) && (yield* payments.exists(bound.value)))
            return yield* BuyerTokenRefused.because("payment").pipe(Effect.mapError(refusalOf))
        }
        const grant = yield* faucet.grant({
          merchantId: merchant.id,
          recipient: address,
          clientAddress
        })
        return {
          grant: grantView(grant),
          balance: balanceView(yield* readBalance(address))
        }
      })
    })
  })
)

const decodeAmount = Schema.decodeSync(UsdAmount)

/** Intents per client address: 30 a minute. */
const playgroundMints = { rate: 30, perSeconds: 60, burst: 30 }

const playground = HttpApiBuilder.group(
  Api,
  "playground",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* KeyAuth
    const intents = yield* PaymentIntents
    const limiter = yield* RateLimiter
    const { baseUrl, trustedProxyHops } = yield* AppConfig

    return handlers.handle(
      "intent",
      Effect.fnUntraced(function* ({ query }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const wait = yield* limiter.take(
          `playground ${clientAddressOf(request, trustedProxyHops)}`,
          playgroundMints
        )
        if (wait > 0) return yield* new RateLimited({ retryAfter: wait })
        const principal = yield* keys.authenticate(query.pk)
        if (principal.kind !== "publishable") return yield* new KeyKindNotAllowed()
        if (!isTest(principal.env)) return yield* new PlaygroundTestnetOnly()
        return jsonResponse(
          yield* intents
            .create(principal, {
              amount: decodeAmount(query.amount),
              intentUrl: `${baseUrl}/playground`
            })
            .pipe(Effect.catchTag("LiveModeGated", () => new PlaygroundTestnetOnly()))
        )
      })
    )
  })
)

export const layer = Layer.mergeAll(context, testRail, playground)
