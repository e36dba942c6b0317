// What people ask about signatures: terms and payments by authorization, x402, agents.
import { Effect, Option } from "effect"
import { orChainUnavailable } from "../../../src/chain/orChainUnavailable.ts"
import { Address, TransactionHash } from "../../../src/domain/Chain.ts"
import type { CodedError } from "../../../src/domain/Errors.ts"
import type { Principal } from "../../../src/domain/Merchant.ts"
import { AtomicUsdc } from "../../../src/domain/Money.ts"
import { PaymentId } from "../../../src/domain/Payment.ts"
import type { PaymentRepo } from "../../../src/payments/PaymentRepo.ts"
import type { Agents } from "../../../src/x402/agents/Agents.ts"
import type { Facilitator, SettleAnswer } from "../../../src/x402/Facilitator.ts"
import { requirementsOf } from "../../../src/x402/paymentRequirements.ts"
import { decodeHeader, readPayment, readRequirements } from "../../../src/x402/Wire.ts"
import { type Answer, type SigningAsk, x402Url } from "../Door.ts"

const malformed: Answer = { status: 400 }

export const answerSigning =
  ({
    agents,
    facilitator,
    repo
  }: {
    readonly repo: PaymentRepo["Service"]
    readonly facilitator: Facilitator["Service"]
    readonly agents: Agents["Service"]
  }) =>
  (principal: Principal, ask: SigningAsk): Effect.Effect<Answer, CodedError> =>
    Effect.gen(function* () {
      const { env, merchant } = principal
      const tenant = { merchantId: merchant.id, env }
      switch (ask.do) {
        case "provision agent": {
          const { agent, key } = yield* agents.provision({
            ...tenant,
            name: "shopper",
            capPerPayment: AtomicUsdc.make(ask.capPerPayment),
            capPerDay: AtomicUsdc.make(ask.capPerDay),
            allowedHosts: null,
            allowedPayees: null
          })
          return { status: 201, agent: { id: agent.id, address: agent.address, key } }
        }
        case "sign for agent": {
          const { accepts, requestId, resource } = ask
          const { created, header } = yield* agents.sign(principal, {
            requestId,
            resource,
            version: 2,
            accepts,
            describedResource: undefined
          })
          return { status: created ? 201 : 200, header: header.value }
        }
        case "settle": {
          const payment = yield* Effect.option(readPayment(2, Option.getOrNull(decodeHeader(ask.header))))
          const requirements = yield* Effect.option(readRequirements(2, ask.requirements))
          if (Option.isNone(payment) || Option.isNone(requirements)) return malformed
          const settle = yield* facilitator
            .settle(principal, payment.value, requirements.value, ask.identity)
            .pipe(orChainUnavailable)
          return { status: 200, settle }
        }
        default: {
          const found = yield* repo.find(tenant, PaymentId.make(ask.paymentId))
          if (Option.isNone(found)) return { status: 404 }
          const payment = found.value
          const told = Effect.fnUntraced(function* (settle: SettleAnswer) {
            const now = Option.getOrElse(yield* repo.find(tenant, payment.id), () => payment)
            const status = now.status === "settled" ? 200 : settle.success ? 202 : 402
            return { status, payment: now, settle }
          })
          switch (ask.do) {
            case "read terms": {
              const { obstacle, typedData } = yield* facilitator
                .terms(merchant, payment, ask.payer)
                .pipe(orChainUnavailable)
              const { from, nonce, to, ...rest } = typedData.message
              const terms = {
                from: Address.make(from),
                to: Address.make(to),
                nonce: TransactionHash.make(nonce),
                ...rest
              }
              return { status: 200, payment, terms: obstacle === undefined ? terms : undefined }
            }
            case "pay by signature": {
              if (payment.status !== "pending") return { status: 200, payment }
              const { from, signature, validAfter, validBefore } = ask.authorization
              return yield* facilitator
                .settleSigned(merchant, payment, { payer: from, validAfter, validBefore, signature })
                .pipe(orChainUnavailable, Effect.flatMap(told))
            }
            case "pay by header": {
              if (payment.status !== "pending") return { status: 200, payment }
              const sent = yield* Effect.option(readPayment(2, Option.getOrNull(decodeHeader(ask.header))))
              if (Option.isNone(sent)) return malformed
              const resource = x402Url(payment.id)
              return yield* facilitator
                .settlePayment(merchant, payment, sent.value, requirementsOf(payment, 2, resource))
                .pipe(orChainUnavailable, Effect.flatMap(told))
            }
          }
        }
      }
    })
