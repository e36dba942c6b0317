// The interface of the chain verifiers, over nodes and in memory.
import type { Effect } from "effect"
import type { Hex } from "viem"
import type { Address, Env, TransactionHash } from "../../domain/Chain.ts"
import type { ReceiverFilter } from "../ReceiverFilter.ts"
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
  /** Verifies the expected transfer on the chain. Never fails: anything unknown is pending. */
  readonly verify: (expectation: Expectation) => Effect.Effect<Verification>
  /** The status of a settled transfer's block, for the watch until it is final. */
  readonly blockStatus: (env: Env, settled: SettledTransfer) => Effect.Effect<BlockStatus>
  /** Atomic USDC and wei at the latest block. */
  readonly readBalance: (env: Env, address: Address) => Effect.Effect<Balance, RpcUnavailable>
  /** Atomic USDC at a height; undefined without a majority, for example if the nodes keep no old states. */
  readonly balanceAt: (env: Env, address: Address, height: bigint) => Effect.Effect<bigint | undefined>
  /** The height of the last block before an instant, at most `upTo`; undefined without a majority. */
  readonly blockBefore: (env: Env, at: Date, upTo: bigint) => Effect.Effect<bigint | undefined>
  /** The latest block that a majority of the nodes has: its height, and its time in Unix seconds. */
  readonly headBlock: (
    env: Env
  ) => Effect.Effect<{ readonly number: bigint; readonly time: bigint }, RpcUnavailable>
  /** The account's state: the highest nonces that a node reports, at a height that a majority has. */
  readonly account: (env: Env, address: Address) => Effect.Effect<AccountState, RpcUnavailable>
  /** The sender of a transaction and its nonce; undefined if no majority of the nodes agrees. */
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
   * True if a majority shows the account's nonce as used at a height. Always false for accounts with code, because
   * others send for them with other nonces.
   */
  readonly hasUsedNonce: (env: Env, address: Address, nonce: bigint, height: bigint) => Effect.Effect<boolean>
  /** The filter's USDC transfers in these blocks, both included; by default all. Never fails. */
  readonly readTransfers: (
    env: Env,
    from: bigint,
    to: bigint,
    filter?: ReceiverFilter
  ) => Effect.Effect<RangeReading>
  /** Chain id, code at the pinned address, and the token's EIP-712 domain. */
  readonly checkNetwork: (env: Env) => Effect.Effect<NetworkCheck>
}
