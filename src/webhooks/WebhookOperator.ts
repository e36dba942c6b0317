// What the operator's commands do with webhooks: list, replay, forward, and re-encrypt secrets.
import { Layer } from "effect"
import { ForwardRepo } from "./ForwardRepo.ts"
import { ReplayRepo } from "./ReplayRepo.ts"
import { SealedSecretRepo } from "./WebhookRepo/SealedSecretRepo.ts"

export const layer = Layer.mergeAll(ForwardRepo.layer, ReplayRepo.layer, SealedSecretRepo.layer)
