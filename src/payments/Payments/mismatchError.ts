// The error for a transaction that does not pay the payment.
import type { Verification } from "../../chain/Verification.ts"
import type { Env } from "../../domain/Chain.ts"
import { SettlementMismatch, TestSettlementMismatch } from "../../domain/Errors.ts"
import { networks } from "../../domain/networks.ts"
import type { MismatchReason } from "../../domain/VerdictReason.ts"

type Mismatch = Extract<Verification, { _tag: "Mismatch" }>

export const mismatchAdvice: { readonly [R in MismatchReason]: string } = {
  receiver: "The transfer went to a different address, not to the merchant's.",
  amount: "The amount of the transfer does not match the payment. Do not pay again: contact the merchant.",
  token: "The transaction moved a different token, not this environment's USDC.",
  payer: "The transfer was not sent by the buyer whose token was reported.",
  reverted: "The transaction was reverted and moved nothing.",
  too_old: "The transfer happened before the payment was opened.",
  declared_changes: "The reported `tokenChanges` do not match the transaction.",
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

/** 422 with the network's code: the field, the expected value, the value on the chain, and what to do. */
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
