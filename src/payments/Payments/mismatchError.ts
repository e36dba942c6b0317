// The error for a transaction that does not pay the payment.
import type { Verification } from "../../chain/Verification.ts"
import type { Env } from "../../domain/Chain.ts"
import { SettlementMismatch, TestSettlementMismatch } from "../../domain/Errors.ts"
import { networks } from "../../domain/networks.ts"
import type { MismatchReason } from "../../domain/VerdictReason.ts"

type Mismatch = Extract<Verification, { _tag: "Mismatch" }>

const mismatchAdvice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to another address than the merchant's.",
  amount: "The transfer moved another amount than the payment asks; pay the exact amount in one transfer.",
  token: "The transaction moved another token than this environment's USDC.",
  payer: "The transfer was not sent by the buyer whose identity token was reported.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer happened before the payment was opened.",
  declared_changes: "The declared tokenChanges do not name what the chain shows.",
  no_transfer: "The transaction contains no USDC transfer.",
  already_used: "The transfer already pays another payment."
}

export type MismatchError = TestSettlementMismatch | SettlementMismatch

const classes = {
  TEST_SETTLEMENT_MISMATCH: TestSettlementMismatch,
  SETTLEMENT_MISMATCH: SettlementMismatch
} as const

export const isMismatchError = (error: { readonly _tag: string }): error is MismatchError =>
  error instanceof TestSettlementMismatch || error instanceof SettlementMismatch

/** 422, by the network's code: the field, what was expected, what the chain shows, what to do. */
export const mismatchError = (env: Env, found: Mismatch): MismatchError =>
  new classes[networks[env].reportCodes.mismatch]({
    reason: found.reason,
    details: [
      {
        path: found.reason,
        message: mismatchAdvice[found.reason],
        ...(found.expected === undefined ? {} : { expected: found.expected }),
        ...(found.actual === undefined ? {} : { actual: found.actual })
      }
    ]
  })
