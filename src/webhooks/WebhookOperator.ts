// The repositories behind the operator's webhook commands: replaying deliveries and re-encrypting secrets.
import { Layer } from "effect"
import { ReplayRepo } from "./ReplayRepo.ts"
import { SealedSecretRepo } from "./SealedSecretRepo.ts"

export const layer = Layer.mergeAll(ReplayRepo.layer, SealedSecretRepo.layer)
