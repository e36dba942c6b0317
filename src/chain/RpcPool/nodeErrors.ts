// The meaning of a node's JSON-RPC error, in one table; the first matching row decides. An error that no row matches
// says nothing about the chain, whatever its code, and is retried like a lost connection.
import { Option, Schema } from "effect"
import { decodeErrorResult, isHex } from "viem"

/**
 * - `declined`: says nothing about the chain: a rate limit, an overload, an unknown block, an unknown message.
 * - `reverted`: within its gas limit, the call succeeds on no node.
 * - `too_wide`: more blocks or logs than the node returns at once.
 * - `pruned`: the node no longer has these old blocks.
 * - `known`: the node has the transaction already.
 * - `nonce_used`: another transaction has the nonce.
 * - `no_funds`: the sender's balance is below the transaction's cost.
 * - `invalid`: no node ever accepts the transaction as it is signed, or not at this price.
 */
export type NodeErrorMeaning =
  | "declined"
  | "reverted"
  | "too_wide"
  | "pruned"
  | "known"
  | "nonce_used"
  | "no_funds"
  | "invalid"

interface Row {
  readonly meaning: NodeErrorMeaning
  readonly code?: number
  readonly pattern?: RegExp
  /** The source of the messages. `nodeErrors.test.ts` lists them one by one. */
  readonly source: string
}

const rateLimited =
  /rate[ -]?limit|too many requests|requests? (?:limit|per|count)|per second|\bRPS\b|compute units?|throughput|quota|capacity|concurrent/i

const rows: ReadonlyArray<Row> = [
  {
    // First, because the rest of the message is the contract's own.
    meaning: "reverted",
    code: 3,
    source: "geth internal/ethapi/errors.go, taken over by op-geth, nitro, erigon, reth, Nethermind, anvil"
  },
  {
    meaning: "reverted",
    pattern:
      /revert|gas required exceeds|intrinsic gas|out ?of ?gas|exceeds the gas limit|vm (?:execution|exception)|invalid opcode|opcode ?not ?found|InvalidFEOpcode|BadInstruction|(?:bad|invalid) ?jump|stack ?(?:under|over)flow|stack limit reached|static ?call ?violation|StateChangeDuringStaticCall|write protection|return data out of bounds|max call depth/i,
    source:
      "geth core/vm/errors.go, core/error.go and eth/gasestimator; revm HaltReason (reth, anvil); Nethermind.Evm EvmExceptionType; Parity (-32015)"
  },
  {
    // Before the block limits, because rate limits also use the words "limit", "exceeded" and "limited to".
    meaning: "declined",
    pattern: rateLimited,
    source:
      "EIP-1474 (-32005); error references of Alchemy (429), QuickNode (-32007, -32003), Infura (-32005), Ankr (-32090), dRPC, Chainstack, BlockPI"
  },
  {
    // A range above the node's head: geth and reth use the word "range", and a shorter range fails likewise.
    meaning: "declined",
    pattern: /beyond current head|invalid block range|range.*(?:greater|higher|ahead).*head/i,
    source: "ethereum/execution-apis tests of eth_getLogs; geth eth/filters/api.go; reth rpc/eth/filter.rs"
  },
  {
    // Before the verdicts: the transaction may be accepted once those in flight are in a block.
    meaning: "declined",
    pattern:
      /in-?flight|delegated accounts|account limit exceeded|already reserved|txpool is (?:full|overflow)|pool is full|exceeds max (?:pending|account)/i,
    source:
      "geth core/txpool (EIP-7702), op-geth, nitro; reth transaction-pool/src/error.rs; Nethermind.TxPool"
  },
  {
    meaning: "pruned",
    code: 4444,
    source: "EIP-4444: geth internal/ethapi, Nethermind, besu"
  },
  {
    meaning: "pruned",
    pattern:
      /prun(?:ed|ing)|missing trie node|(?:historical|history|state|receipts?)\b.*(?:not ?|un)available|not available, lowest|required historical state|archive|distance to target block exceeds|(?:block|height) (?:is )?(?:too old|out of range)/i,
    source:
      "geth trie, core/state and eth/api_backend.go; op-geth and nitro (historical backend); reth provider (StateAtBlockPruned, proof window); erigon rpchelper; Nethermind (eth_getLogs without receipts); evmos; Alchemy and QuickNode (archive plans)"
  },
  {
    meaning: "too_wide",
    pattern:
      /\bblock (?:range|distance)|range (?:is |are |limit|exceed|too|over|large|greater|allowed)|\branges? over|limited to (?:a |0 - )?[\d,.]+ ?(?:k )?(?:block|range)|(?:too many|maximum|max|at most|requested) (?:[\d,.]+ )?(?:number of requested )?(?:blocks|logs|results|block range)|blocks? range|more than [\d,]+ (?:results|logs|blocks)|exceeds? (?:max|limit of) (?:results|block|\d)|max results|logs matched|response (?:size|is too|too large)|backend response too large|query (?:exceeds|must be smaller|timeout)/i,
    source:
      "geth (maximum block range), reth (max block range, max results), erigon, Nethermind (max logs); nitro (logs matched by query); Alchemy, Infura, QuickNode (-32614), Ankr (-32062), Chainstack, dRPC (35), BlockPI, Cloudflare (-32047), PublicNode (-32701), Coinbase"
  },
  {
    meaning: "known",
    pattern:
      /already ?(?:known|imported|exists)|known transaction|AlreadyKnown|same hash was already imported/i,
    source: "geth core/txpool/errors.go; reth PoolError; Nethermind.TxPool AcceptTxResult; OpenEthereum"
  },
  {
    meaning: "nonce_used",
    pattern:
      /nonce (?:is )?too low|nonce too small|OldNonce|replacement transaction underpriced|ReplacementNotAllowed/i,
    source:
      "geth core/error.go and core/txpool/errors.go; reth; erigon txpoolcfg; Nethermind.TxPool AcceptTxResult"
  },
  {
    // Before `no_funds`: a provider may report that its customer's account has no funds.
    meaning: "declined",
    pattern:
      /\b(?:plan|credits?|subscription|billing|invoice|top[ -]?up|api[ -]?key|your (?:provider )?account)\b/i,
    source: "refusals of hosted providers that name the customer's account"
  },
  {
    meaning: "no_funds",
    pattern:
      /insufficient (?:funds|balance)|InsufficientFunds|lack of funds|doesn'?t have enough (?:funds|money)/i,
    source:
      "geth core/error.go; revm InvalidTransaction::LackOfFundForMaxFee; erigon txpoolcfg; Nethermind; nitro"
  },
  {
    meaning: "invalid",
    pattern:
      /underpriced|fee ?too ?low|less than block base fee|tip (?:above|higher)|priority fee.*higher|exceeds block gas limit|invalid (?:sender|chain id|signature)|oversized data|transaction type not supported|tx fee .* exceeds/i,
    source:
      "geth core/error.go, core/txpool/errors.go and internal/ethapi (RPCTxFeeCap); reth; erigon; Nethermind"
  }
]

/** A verdict means something only as the answer to these methods. */
const methodsOf: { readonly [Meaning in NodeErrorMeaning]?: ReadonlyArray<string> } = {
  too_wide: ["eth_getLogs"],
  pruned: ["eth_getLogs", "eth_getBlockByNumber", "eth_getBlockReceipts", "eth_call", "eth_getBalance"],
  known: ["eth_sendRawTransaction"],
  nonce_used: ["eth_sendRawTransaction"],
  invalid: ["eth_sendRawTransaction"],
  no_funds: ["eth_sendRawTransaction", "eth_estimateGas", "eth_call"],
  reverted: ["eth_sendRawTransaction", "eth_estimateGas", "eth_call"]
}

/**
 * The first row whose code or words match. Only `eth_getLogs` can be too wide, and nothing about the newest block is
 * pruned.
 */
export const meaningOf = (
  method: string,
  code: number | undefined,
  nodeMessage: string,
  params: ReadonlyArray<unknown> = []
): NodeErrorMeaning =>
  rows.find(
    (row) =>
      (methodsOf[row.meaning]?.includes(method) ?? true) &&
      !(row.meaning === "pruned" && params.includes("latest")) &&
      ((row.code !== undefined && row.code === code) || row.pattern?.test(nodeMessage) === true)
  )?.meaning ?? "declined"

/** EIP-1474 and the providers' words for a method that the node, or its plan, does not have. */
const unsupported =
  /\(-32601\)|\(-32004\)|method\b.*\b(?:not|un)|unsupported|not (?:supported|implemented|enabled|whitelisted)|\bplan\b|^HTTP 40[1345]/i

/** True if a node's message says that it does not offer the method; false if it only refuses this call. */
export const isUnsupported = (nodeMessage: string): boolean =>
  unsupported.test(nodeMessage) && !rateLimited.test(nodeMessage)

const Coded = Schema.Struct({
  code: Schema.optionalKey(Schema.Union([Schema.Int, Schema.NumberFromString])),
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
})
const decodeCoded = Schema.decodeUnknownOption(Coded)

/** The text with which a contract reverted, from Solidity's `Error(string)`. */
const revertReason = (data: unknown): string | undefined => {
  if (!isHex(data)) return undefined
  try {
    const { args, errorName } = decodeErrorResult({ data })
    return errorName === "Error" ? `execution reverted: ${String(args?.[0])}` : undefined
  } catch {
    return undefined
  }
}

/** The code and message of a response's `error`, which some providers send as a string, or with a quoted code. */
export const readError = (
  error: unknown
): { readonly code: number | undefined; readonly nodeMessage: string } => {
  const coded = decodeCoded(error)
  if (Option.isNone(coded))
    return { code: undefined, nodeMessage: typeof error === "string" ? error : (JSON.stringify(error) ?? "") }
  const { code, data, message } = coded.value
  return {
    code,
    nodeMessage:
      revertReason(data) ?? (typeof data === "string" && !isHex(data) ? `${message}: ${data}` : message)
  }
}
