// Mutants of what judges money that no seed can kill, and why: they change no payment, or the service has a second
// guard behind them. The suites of each file hold them, by `bun run mutate`.
import type { Mutant } from "../mutation/mutants.ts"

/** What judges money, of the mutation suite's targets. */
export const judges = [
  "src/chain/ChainVerifier/judgeTransfer.ts",
  "src/chain/ChainVerifier/judgeBlock.ts",
  "src/chain/ChainVerifier/TransferLog.ts",
  "src/chain/ChainVerifier/Agreement.ts",
  "src/domain/Money.ts",
  "src/domain/Payment.ts",
  "src/domain/TokenChange.ts"
] as const

export interface LivingMutant {
  readonly file: (typeof judges)[number]
  /** A part of its line. */
  readonly line: string
  readonly change: string
  readonly why: string
}

export const livingMutants: ReadonlyArray<LivingMutant> = []

/** Why the mutant of this source lives; undefined where a seed has to kill it. */
export const whyLives = ({ change, file, line }: Mutant, source: string): string | undefined => {
  const text = source.split("\n")[line - 1] ?? ""
  return livingMutants.find((one) => one.file === file && one.change === change && text.includes(one.line))
    ?.why
}
