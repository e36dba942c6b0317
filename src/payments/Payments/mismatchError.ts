// The error for a transaction that does not pay the payment.
import type { Verification } from "../../chain/Verification.ts"
import type { Env } from "../../domain/Chain.ts"
import { SettlementMismatch, TestSettlementMismatch } from "../../domain/Errors.ts"
import { mismatchAdvice } from "../../domain/mismatchAdvice.ts"
import { networks } from "../../domain/networks.ts"

type Mismatch = Extract<Verification, { _tag: "Mismatch" }>

export type MismatchError = TestSettlementMismatch | SettlementMismatch

const classes = {
  TEST_SETTLEMENT_MISMATCH: TestSettlementMismatch,
  SETTLEMENT_MISMATCH: SettlementMismatch
} as const

export const isMismatchError = (error: { readonly _tag: string }): error is MismatchError =>
  error instanceof TestSettlementMismatch || error instanceof SettlementMismatch

/** 422 with the network's code: the field, the expected value, the value on the chain, and what to do. */
export const mismatchError = (env: Env, mismatch: Mismatch): MismatchError =>
  new classes[networks[env].reportCodes.mismatch]({
    reason: mismatch.reason,
    details: [
      {
        path: mismatch.reason,
        message: mismatchAdvice[mismatch.reason],
        ...(mismatch.expected === undefined ? {} : { expected: mismatch.expected }),
        ...(mismatch.actual === undefined ? {} : { actual: mismatch.actual })
      }
    ]
  })
