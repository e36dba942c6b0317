// What the operator's commands do with webhooks: list, replay, and re-encrypt secrets.
import { Layer } from "effect"
import { ReplayRepo } from "./ReplayRepo.ts"
import { SealedSecretRepo } from "./WebhookRepo/SealedSecretRepo.ts"

export const layer = Layer.mergeAll(ReplayRepo.layer, SealedSecretRepo.layer)
