// The operator's commands for webhooks: list, replay, and re-encrypt secrets.
import { Layer } from "effect"
import { ReplayRepo } from "./ReplayRepo.ts"
import { SealedSecretRepo } from "./SealedSecretRepo.ts"

export const layer = Layer.mergeAll(ReplayRepo.layer, SealedSecretRepo.layer)
