// Mutants of what judges money that no seed can kill, and why: they change no payment, or the service has a second
// guard behind them. The suites of each file hold them, by `bun run mutate`.
import type { Mutant } from "../mutation/mutants.ts"
import { targets } from "../mutation/targets.ts"

export interface LivingMutant {
  readonly file: (typeof targets)[number]
  /** A part of its line, and of the one before where others read the same. */
  readonly line: string
  readonly after?: string
  readonly change: string
  readonly why: string
}

const [judgeTransfer, judgeBlock, transferLog, agreement, money, payment, tokenChange] = targets

const inHistory = "a word of the payment's history, which memory does not keep"
const atOnce =
  "a node is asked for a receipt and for its block at once: in 2,500 seeds no block is replaced between the two"
const words = "topics are 32 bytes, by the schema of what nodes answer: nothing else comes here"
const byTimeAlone =
  "the oldest time counts where no height is known, which in 4,000 seeds never meets a transfer older than its minute"
const asText = "what is declared is compared as text with what the chain shows"

export const livingMutants: ReadonlyArray<LivingMutant> = [
  {
    file: judgeTransfer,
    line: "return facts.blockTime >= earliest",
    change: ">= -> >",
    why: "a second of a minute's tolerance, where no height is known"
  },
  {
    file: judgeTransfer,
    line: "const earliest = BigInt(Math.floor(notBefore.getTime() / 1000)",
    change: "1000 -> (1000 + 1)",
    why: byTimeAlone
  },
  {
    file: judgeTransfer,
    line: "? undefined",
    after: "return facts.blockTime >= earliest",
    change: "? -> || true ?",
    why: byTimeAlone
  },
  ...[">= -> >", ">= -> <"].map((change) => ({
    file: judgeTransfer,
    line: "confirmed: confirmations >= required",
    change,
    why: "a report that is asked about no more, or for longer: the reader of the chain settles what a reorganisation makes good"
  })),
  {
    file: judgeTransfer,
    line: "return Number.isNaN(time.getTime())",
    change: "? -> && false ?",
    why: "block times lie within the calendar here"
  },
  {
    file: judgeTransfer,
    line: "facts.blockHash !== facts.canonicalHash",
    change:
      'if (facts.blockHash !== facts.canonicalHash) return Verification.Pending({ reason: "reorganised" }) -> (removed)',
    why: atOnce
  },
  ...["reorganised", "confirmations"].map((reason) => ({
    file: judgeTransfer,
    line: `reason: "${reason}"`,
    change: `reason: "${reason}" -> reason: "mutated"`,
    why: inHistory
  })),
  {
    file: judgeBlock,
    line: "facts.blockHash !== facts.canonicalHash",
    change: "if (facts.blockHash !== facts.canonicalHash) { -> if (false) {",
    why: atOnce
  },
  {
    file: judgeBlock,
    line: 'return BlockStatus.Dropped({ reason: "not_included" })',
    change: 'reason: "not_included" -> reason: "mutated"',
    why: atOnce
  },
  {
    file: judgeBlock,
    line: "final: confirmations >= finalityDepth",
    change: ">= -> >",
    why: "a settled transfer is watched for a block more"
  },
  ...["Math.max( -> Math.min(", "0 -> (0 + 1)"].map((change) => ({
    file: judgeBlock,
    line: "const confirmations =",
    change,
    why: "a settled transfer is watched for longer, or its own block counts as one on top"
  })),
  {
    file: judgeBlock,
    line: "if (facts.blockHash === settled.blockHash) {",
    change: "if (facts.blockHash === settled.blockHash) { -> if (false) {",
    why: "a settled transfer is watched for longer"
  },
  {
    file: judgeBlock,
    line: "if (settled.transfer === undefined)",
    change: "if (settled.transfer === undefined) return BlockStatus.Moved(moved) -> (removed)",
    why: "what the service watches names its transfer"
  },
  ...["addressTopic.exec(topic)", "return digits === undefined"].map((line) => ({
    file: transferLog,
    line,
    change: "? -> && false ?",
    why: "what is undefined is no address in the next step either"
  })),
  ...["/^ -> /", "$/ -> /", "{24} -> {23,}", "{40} -> {39,}"].map((change) => ({
    file: transferLog,
    line: "const addressTopic",
    change,
    why: words
  })),
  {
    file: transferLog,
    line: "const word",
    change: "/^ -> /",
    why: "data begins with 0x, by the schema of what nodes answer"
  },
  ...["spreading", "not_found"].map((reason) => ({
    file: agreement,
    line: `Verification.Pending({ reason: "${reason}" })`,
    change: `reason: "${reason}" -> reason: "mutated"`,
    why: inHistory
  })),
  {
    file: agreement,
    line: 'BlockStatus.Unknown({ reason: "lagging" })',
    change: 'reason: "lagging" -> reason: "mutated"',
    why: "nobody is told why a look says nothing"
  },
  ...["Spreading", "Open"].map((name) => ({
    file: agreement,
    line: `case "${name}":`,
    change: `"${name}" -> "mutated"`,
    why: "a look that fails is repeated, as one that says nothing is"
  })),
  {
    file: agreement,
    line: "return agreement.head >= settled.blockNumber",
    change: ">= -> >",
    why: "what is gone is told a block later"
  },
  {
    file: money,
    line: "const [integer =",
    change: "0 -> (0 + 1)",
    why: "an amount has digits before its point, by the pattern of amounts"
  },
  {
    file: money,
    line: "isLessThanOrEqualToBigInt",
    change: "99_999_999_999_999_999_999n -> (99_999_999_999_999_999_999n + 1n)",
    why: "14 digits are no more, by the pattern of amounts"
  },
  {
    file: payment,
    line: 'if (payment.status === "settled" && payment.reported !== null) {',
    change: "&& -> ||",
    why: "only a live payment keeps a report before it has settled, and in 4,000 seeds none is reported twice with other evidence"
  },
  {
    file: payment,
    line: 'return payment.env === "test" ? "verify" : "record"',
    change: "? -> || true ?",
    why: "the live network has no node here: nothing on it can be verified"
  },
  {
    file: payment,
    line: 'return payment.env === "test" ? "verify" : "record"',
    change: '"verify" -> "mutated"',
    why: "what is no other case is verified"
  },
  {
    file: tokenChange,
    line: ".sort()",
    change: ".sort() -> (removed)",
    why: "of one movement there is one order, and a report is of one"
  },
  ...["0 -> (0 + 1)", "/^ -> /", "$/ -> /"].map((change) => ({
    file: tokenChange,
    line: "Schema.isPattern(",
    change,
    why: asText
  }))
]

/** Why the mutant of this source lives; undefined where a seed has to kill it. */
export const whyLives = ({ change, file, line }: Mutant, source: string): string | undefined => {
  const [before = "", text = ""] = ["", ...source.split("\n")].slice(line - 1)
  return livingMutants.find(
    (one) =>
      one.file === file &&
      one.change === change &&
      text.includes(one.line) &&
      before.includes(one.after ?? "")
  )?.why
}
