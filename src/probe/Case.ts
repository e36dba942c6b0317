// One hostile thing that a probe sends: what it is, what a sound service does, and what this one did.
import { Effect } from "effect"

export type Group = "http" | "facilitator" | "webhooks" | "tokens" | "keys" | "payment-headers"

export interface Judgement {
  /** `skipped`: nothing was learnt, and `actual` says why. */
  readonly verdict: "held" | "failed" | "skipped"
  /** What came back, in a few words. */
  readonly actual: string
}

export interface Case {
  readonly group: Group
  /** Stable and unique, in kebab case. */
  readonly id: string
  /** Where the rule stands: an RFC's section, an EIP, a CWE or CVE. */
  readonly reference: string
  readonly expected: string
  readonly run: Effect.Effect<Judgement>
}

export interface CaseResult extends Judgement {
  readonly group: Group
  readonly id: string
  readonly reference: string
  readonly expected: string
}

export const held = (actual: string): Judgement => ({ verdict: "held", actual })
export const failed = (actual: string): Judgement => ({ verdict: "failed", actual })
export const skipped = (actual: string): Judgement => ({ verdict: "skipped", actual })

/** The same cases, none of which is sent. */
export const skipAll = (cases: ReadonlyArray<Case>, reason: string): ReadonlyArray<Case> =>
  cases.map((one) => ({ ...one, run: Effect.succeed(skipped(reason)) }))
