// What a verifier tells of the chain, by its nodes and in memory.
import type { Effect } from "effect"
import type { Hex } from "viem"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type {
  AccountState,
  Balance,
  BlockStatus,
  Expectation,
  NetworkCheck,
  RangeReading,
  RpcUnavailable,
  SettledTransfer,
  Verification
} from "../Verification.ts"

export interface Verifier {
  /** Whether the chain shows the expected transfer. Never fails: whatever is unknown is pending. */
  readonly verify: (expectation: Expectation) => Effect.Effect<Verification>
  /** Whether a settled transfer is still where it was, for the watch until it is final. */
  readonly blockStatus: (env: Env, settled: SettledTransfer) => Effect.Effect<BlockStatus>
  /** Atomic USDC and wei at the latest block. */
  readonly readBalance: (env: Env, address: Address) => Effect.Effect<Balance, RpcUnavailable>
  /** Atomic USDC at a height; undefined where no majority says, as of nodes that keep no past. */
  readonly balanceAt: (env: Env, address: Address, height: bigint) => Effect.Effect<bigint | undefined>
  /** The height of the last block before an instant, at most `upTo`; undefined where no majority says. */
  readonly blockBefore: (env: Env, at: Date, upTo: bigint) => Effect.Effect<bigint | undefined>
  /** The latest block that a majority of the nodes has: its height, and its time in Unix seconds. */
  readonly headBlock: (
    env: Env
  ) => Effect.Effect<{ readonly number: bigint; readonly time: bigint }, RpcUnavailable>
  /** The account's state: the highest nonces any node reports, at a height that a majority has. */
  readonly account: (env: Env, address: Address) => Effect.Effect<AccountState, RpcUnavailable>
  /** Who sent a transaction and with which nonce; undefined where no majority of the nodes says. */
  readonly sender: (
    env: Env,
    transactionId: TransactionHash
  ) => Effect.Effect<{ readonly address: Address; readonly nonce: bigint } | undefined>
  /**
   * Nonces of the payer's EIP-3009 authorizations that a transaction used; undefined while no majority of the
   * nodes shows it.
   */
  readonly usedAuthorizations: (
    env: Env,
    transactionId: TransactionHash,
    payer: Address
  ) => Effect.Effect<ReadonlyArray<Hex> | undefined>
  /**
   * Whether a majority shows the account's nonce as used at a height. Never of an account with code: whoever
   * sends for it uses a nonce of their own, and its transactions are not bound to its nonce.
   */
  readonly hasUsedNonce: (env: Env, address: Address, nonce: bigint, height: bigint) => Effect.Effect<boolean>
  /** Every USDC transfer in these blocks, both included. Never fails. */
  readonly readTransfers: (env: Env, from: bigint, to: bigint) => Effect.Effect<RangeReading>
  /** Chain id, code at the pinned address, and the token's EIP-712 domain. */
  readonly checkNetwork: (env: Env) => Effect.Effect<NetworkCheck>
}
