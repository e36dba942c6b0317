// The contract of agents: their limits, and the x402 payments that they sign (docs/contract.md 5; x402
// versions 1 and 2).
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentPaymentStatus, AgentStatus } from "../../domain/Agent.ts"
import { BalanceView } from "../../domain/BalanceView.ts"
import { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import {
  AgentCapExceeded,
  AgentHostNotAllowed,
  AgentPaused,
  AgentPayeeNotAllowed,
  AgentPaymentNotFound,
  AgentRequestConflict,
  AgentsNotConfigured,
  ChainUnavailable,
  FaucetLimitReached,
  FaucetUnavailable,
  LiveModeGated,
  X402RequirementsUnsupported
} from "../../domain/Errors.ts"
import { Timestamp } from "../../domain/Timestamp.ts"
import { urlPattern } from "../../domain/urlPattern.ts"
import { allow, endpointGroup } from "../../platform/http/Access.ts"
import { ApiKeyAuth, TestRail } from "../../platform/http/ApiKeyAuth.ts"
import { errorResponse } from "../../platform/http/Envelope.ts"
import { BodyRules } from "../../platform/http/RequestRules.ts"

const Usd = Schema.String.annotate({ description: "USD as a decimal string.", examples: ["1.50"] })

export const AgentPaymentView = Schema.Struct({
  id: Schema.String,
  requestId: Schema.String,
  status: AgentPaymentStatus.annotate({
    description:
      "`reserved` counts against the cap; `used`, `expired` and `released` are states on the chain."
  }),
  resource: Schema.String,
  amount: Usd,
  payTo: Address,
  network: Schema.String.annotate({ examples: ["eip155:84532"] }),
  transactionId: Schema.optionalKey(TransactionHash),
  validBefore: Timestamp,
  createdAt: Timestamp
}).annotate({ identifier: "AgentPayment" })

const AgentView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  env: Env,
  livemode: Schema.Boolean,
  status: AgentStatus,
  address: Address.annotate({ description: "The agent's wallet." }),
  balance: Schema.optionalKey(BalanceView).annotate({
    description: "Absent while the chain is unreachable, and with a live key."
  }),
  caps: Schema.Struct({ perPayment: Usd, perDay: Usd }),
  spent: Usd.annotate({ description: "The amount of the last 24 hours, including reservations." }),
  remaining: Usd,
  allowedHosts: Schema.NullOr(Schema.Array(Schema.String)),
  allowedPayees: Schema.NullOr(Schema.Array(Address)),
  payments: Schema.Array(AgentPaymentView).annotate({ description: "The newest 20 payments." }),
  createdAt: Timestamp
}).annotate({ identifier: "Agent" })

export const AgentResponse = Schema.Struct({ agent: AgentView })

const RequestId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9._:-]{1,128}$/u, { message: "1 to 128 of A-Z a-z 0-9 . _ : -" })
).annotate({ description: "The caller's id of the request; the same id signs the same payment." })

export const SignedPaymentResponse = Schema.Struct({
  agentPayment: AgentPaymentView,
  header: Schema.Struct({
    name: Schema.Literals(["X-PAYMENT", "PAYMENT-SIGNATURE"]),
    value: Schema.String
  }).annotate({ description: "Send this header with the repeated request." })
})

const PaymentIdParam = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u, { message: "a UUID" })
).annotate({ description: "An agent payment's id, a UUID." })

export class AgentApi extends endpointGroup("agent")(
  allow(
    { by: "key", kinds: ["agent"] },
    HttpApiEndpoint.get("retrieve", "/agent", {
      success: AgentResponse
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Read the agent",
        description: "The agent's wallet, balances, caps, spent and remaining amounts, and newest payments."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["agent"] },
    HttpApiEndpoint.post("pay", "/agent/x402/payments", {
      payload: Schema.Struct({
        requestId: RequestId,
        resource: Schema.String.check(
          Schema.isMinLength(1),
          Schema.isMaxLength(2048),
          // The service accepts more than it documents, such as http on this machine.
          Schema.makeFilter(() => true, { toJsonSchema: () => ({ pattern: urlPattern }) })
        ).annotate({
          description: "The address that answered 402."
        }),
        paymentRequired: Schema.Struct({
          x402Version: Schema.Literals([1, 2]),
          accepts: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1), Schema.isMaxLength(20)),
          resource: Schema.optionalKey(Schema.Unknown),
          extensions: Schema.optionalKey(Schema.Unknown),
          // Accepted because clients send the 402 unchanged; it has no effect.
          error: Schema.optionalKey(Schema.Unknown)
        }).annotate({
          description:
            "The resource's 402: its body in version 1, its decoded header PAYMENT-REQUIRED in version 2."
        })
      }),
      success: [
        SignedPaymentResponse.pipe(HttpApiSchema.status(201)),
        SignedPaymentResponse.annotate({
          description: "The payment that an earlier request with the same id signed."
        })
      ],
      error: [
        errorResponse(AgentCapExceeded),
        errorResponse(AgentHostNotAllowed),
        errorResponse(AgentPaused),
        errorResponse(AgentPayeeNotAllowed),
        errorResponse(LiveModeGated),
        errorResponse(AgentRequestConflict),
        errorResponse(X402RequirementsUnsupported),
        errorResponse(AgentsNotConfigured)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Sign an x402 payment",
        description:
          "Chooses requirements that the agent can pay, reserves the amount within its caps, and signs. At most 60 a minute."
      })
    )
  ),
  allow(
    { by: "key", kinds: ["agent"] },
    HttpApiEndpoint.post("release", "/agent/x402/payments/:id/release", {
      params: { id: PaymentIdParam },
      success: Schema.Struct({ agentPayment: AgentPaymentView }).pipe(HttpApiSchema.status(202)),
      error: [
        errorResponse(AgentPaymentNotFound),
        errorResponse(LiveModeGated),
        errorResponse(AgentsNotConfigured),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Release a signed payment",
        description:
          "Cancels the authorization on the chain. The amount counts until the cancellation is 20 seconds of blocks deep. If the payment is used before that, it stays used."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Agents", description: "Software agents that pay within a cap." })
  ) {}

export class AgentTestRailApi extends endpointGroup("agentTestRail")(
  allow(
    { by: "key", kinds: ["agent"], testRail: true },
    HttpApiEndpoint.post("funds", "/agent/test-funds", {
      success: Schema.Struct({
        grant: Schema.Struct({
          address: Address,
          usdcAtomic: Schema.String,
          gasWei: Schema.String,
          transactionIds: Schema.Array(TransactionHash)
        })
      }).pipe(HttpApiSchema.status(201)),
      error: [
        errorResponse(FaucetLimitReached),
        errorResponse(FaucetUnavailable),
        errorResponse(ChainUnavailable)
      ]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Fund the agent from the faucet",
        description: "Sends test USDC to the agent's wallet, under the faucet's limits."
      })
    )
  )
)
  .middleware(BodyRules)
  .middleware(TestRail)
  .middleware(ApiKeyAuth)
  .annotateMerge(
    OpenApi.annotations({ title: "Agent test funds", description: "Funds on Testnet, for test keys only." })
  ) {}
