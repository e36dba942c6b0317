// The contract of WebhookRepo on memory and Postgres.
import { describe } from "bun:test"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { KeyAuth } from "../../src/merchants/keys/KeyAuth.ts"
import { PaymentRepo } from "../../src/payments/PaymentRepo.ts"
import { SecretBox } from "../../src/platform/SecretBox.ts"
import { WebhookRepo } from "../../src/webhooks/WebhookRepo.ts"
import { testDatabase } from "../support/database.ts"
import { testConfig } from "../support/memory.ts"
import { webhookRepoContract } from "./WebhookRepo.contract.ts"
import { endpointContract } from "./WebhookRepo.endpoints.contract.ts"
import { eventsContract } from "./WebhookRepo.events.contract.ts"

const secrets = SecretBox.layer.pipe(Layer.provide(testConfig()))

describe("WebhookRepo in memory", () => {
  const layer = Layer.mergeAll(PaymentRepo.layerMemory, KeyAuth.layerMemory, secrets).pipe(
    Layer.provideMerge(WebhookRepo.layerMemory),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
  webhookRepoContract(layer)
  endpointContract(layer)
  eventsContract(layer)
})

describe("WebhookRepo on Postgres", () => {
  const layer = Layer.mergeAll(PaymentRepo.layer, KeyAuth.layer, WebhookRepo.layer, secrets).pipe(
    Layer.provide(testDatabase.layer),
    Layer.provideMerge(SecureRandom.layerWebCrypto)
  )
  webhookRepoContract(layer)
  endpointContract(layer)
  eventsContract(layer)
})
