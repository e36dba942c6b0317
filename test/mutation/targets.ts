/** What judges money: verifier, log decoding, amounts and the state machine. */
export const targets = [
  "src/chain/ChainVerifier/judgeTransfer.ts",
  "src/chain/ChainVerifier/judgeBlock.ts",
  "src/chain/ChainVerifier/TransferLog.ts",
  "src/chain/ChainVerifier/Agreement.ts",
  "src/domain/Money.ts",
  "src/domain/Payment.ts",
  "src/domain/TokenChange.ts"
] as const
