// Payments, and everything stored about them, on Postgres.
import { Layer } from "effect"
import { AttemptRepo } from "./AttemptRepo.ts"
import { ClaimRepo } from "./ClaimRepo.ts"
import { PaymentRepo } from "./PaymentRepo.ts"
import { RefundRepo } from "./refunds/RefundRepo.ts"
import { TransferRepo } from "./TransferRepo.ts"

export const layerPaymentRepos = Layer.mergeAll(
  PaymentRepo.layer,
  AttemptRepo.layer,
  ClaimRepo.layer,
  TransferRepo.layer,
  RefundRepo.layer
)
