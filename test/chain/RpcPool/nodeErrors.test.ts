// Error messages of nodes and providers, and the meaning of each.
import { describe, expect, test } from "bun:test"
import { isUnsupported, meaningOf, type NodeErrorMeaning } from "../../../src/chain/RpcPool/nodeErrors.ts"

type Said = readonly [from: string, method: string, code: number | undefined, words: string]

const logs = "eth_getLogs"
const call = "eth_call"
const gas = "eth_estimateGas"
const send = "eth_sendRawTransaction"
const block = "eth_getBlockByNumber"

const said: { readonly [M in NodeErrorMeaning]: ReadonlyArray<Said> } = {
  declined: [
    [
      "QuickNode",
      call,
      -32007,
      "50/second request limit reached - reduce calls per second or upgrade your account"
    ],
    ["QuickNode", logs, -32003, "daily request limit reached - upgrade your account at quicknode.com"],
    ["QuickNode", call, -32601, "Method eth_call does not exist or is not available"],
    ["Infura", call, -32005, "daily request count exceeded, request rate limited"],
    ["Infura", logs, -32005, "project ID request rate exceeded"],
    ["Infura", call, -32603, "Internal error"],
    ["Alchemy", logs, 429, "Your app has exceeded its compute units per second capacity."],
    ["Alchemy", call, -32000, "Unable to complete request at this time."],
    ["Ankr", logs, -32090, "Too many requests, reason: call rate limit exhausted, retry in 10s"],
    ["Ankr", call, -32055, "No nodes available"],
    ["dRPC", call, 30, "Request timeout on the free tier, please upgrade your tier to the paid one"],
    ["dRPC", logs, 15, "Too many requests, try again in 2 seconds"],
    ["Chainstack", logs, -32005, "You've exceeded the RPS limit available on the current plan"],
    ["BlockPI", logs, -32603, "Request exceeds the rate limit: limited to 20 requests per second"],
    ["Cloudflare", call, -32046, "Cannot fulfill request"],
    ["Base", logs, -32011, "no backend is currently healthy to serve traffic"],
    ["Base", call, -32016, "over rate limit"],
    ["EIP-1474", logs, -32005, "Limit exceeded"],
    ["geth", call, -32000, "header not found"],
    ["geth", logs, -32000, "unknown block"],
    ["geth", call, -32000, "execution aborted (timeout = 5s)"],
    ["geth", logs, -32602, "invalid block range params"],
    ["execution-apis", logs, -32602, "block range extends beyond current head block"],
    ["geth", send, -32000, "in-flight transaction limit reached for delegated accounts"],
    ["geth", send, -32000, "gapped-nonce tx from delegated accounts"],
    ["geth", send, -32000, "account limit exceeded"],
    ["reth", send, -32003, "txpool is full"],
    ["Nethermind", send, -32010, "NodeIsSyncing"],
    ["erigon", send, -32000, "nonce gap"],
    ["nobody", call, -32099, "computer says no"],
    ["nobody", send, undefined, ""]
  ],
  reverted: [
    ["geth, reth, nitro", call, 3, "execution reverted: FiatTokenV2: invalid signature"],
    ["a contract that words it so", call, 3, "execution reverted: rate limit exceeded"],
    ["besu", call, -32000, "Execution reverted"],
    ["geth", call, -32000, "out of gas"],
    ["geth", call, -32000, "invalid opcode: INVALID"],
    ["geth", call, -32000, "stack limit reached 1024 (1023)"],
    ["geth", call, -32000, "stack underflow (0 <=> 1)"],
    ["geth", call, -32000, "invalid jump destination"],
    ["geth", call, -32000, "write protection"],
    ["geth", gas, -32000, "gas required exceeds allowance (160000)"],
    ["geth", call, -32000, "err: intrinsic gas too low: have 160000, want 2000000 (supplied gas 160000)"],
    ["erigon", call, -32000, "intrinsic gas too low"],
    ["reth", call, -32003, "out of gas: gas required exceeds: 160000"],
    ["anvil", call, -32003, "EVM error OutOfGas"],
    ["anvil", call, -32003, "EVM error InvalidFEOpcode"],
    ["Nethermind", call, -32015, "VM execution error."],
    ["Nethermind", call, -32015, "BadInstruction"],
    ["Hardhat", call, -32603, "VM Exception while processing transaction: reverted with reason string 'x'"]
  ],
  too_wide: [
    [
      "Alchemy",
      logs,
      -32600,
      "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1, 0xa]. Upgrade to PAYG for expanded block range."
    ],
    [
      "Alchemy",
      logs,
      -32602,
      "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size"
    ],
    ["Infura", logs, -32005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."],
    ["QuickNode, Base", logs, -32614, "eth_getLogs is limited to a 10,000 range"],
    ["QuickNode", logs, -32602, "eth_getLogs is limited to a 5 range"],
    ["Ankr", logs, -32062, "Block range is too large"],
    ["Ankr", logs, -32600, "block range is too wide"],
    ["Chainstack", logs, -32005, "Block range limit exceeded. See more details at the documentation"],
    ["dRPC", logs, 35, "ranges over 10000 blocks are not supported on freetier"],
    ["BlockPI", logs, -32602, "eth_getLogs is limited to 1024 block range"],
    [
      "Cloudflare",
      logs,
      -32047,
      "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800"
    ],
    ["PublicNode", logs, -32701, "exceed maximum block range: 50000"],
    ["Coinbase", logs, -32602, "please limit the query to at most 1000 blocks"],
    ["Avalanche", logs, -32000, "requested too many blocks from 1 to 3000, maximum is set to 2048"],
    ["thirdweb", logs, -32602, "Maximum allowed number of requested blocks is 1000"],
    ["1RPC", logs, -32602, "eth_getLogs is limited to 0 - 50 blocks range"],
    ["nitro", logs, -32000, "logs matched by query exceeds limit of 10000"],
    ["reth", logs, -32602, "query exceeds max block range 100000"],
    ["reth", logs, -32602, "query exceeds max results 20000, retry with the range 24383075-24383096"],
    ["Nethermind", logs, -32005, "Too many logs requested. Max logs per response is 20000."],
    ["op proxyd", logs, -32020, "backend response too large"],
    ["op proxyd", logs, -32000, "block range greater than 10000 max"],
    ["Blast", logs, -32600, "exceeds the range allowed for your plan (1000 > 500)"]
  ],
  pruned: [
    ["geth", logs, 4444, "pruned history unavailable"],
    ["geth", call, -32000, "missing trie node 5d3a (path ) state 0x5d3a is not available"],
    ["geth", call, -32000, "historical state 1a2b is not available"],
    [
      "op-geth",
      call,
      -32000,
      "no historical RPC is available for this historical (pre-bedrock) block: historical backend not available"
    ],
    ["reth", call, -32000, "state at block #100 is pruned"],
    ["reth", call, -32000, "distance to target block exceeds maximum proof window"],
    ["erigon", logs, -32000, "old data not available due to pruning"],
    ["Nethermind", call, -32002, "No state available for block 0x1 (pruned)"],
    ["Infura", call, -32002, "project does not have access to archive state"],
    ["Nethermind", logs, -32001, "Receipt not available for 'From' block '11052984'."],
    ["evmos", block, -32000, "height 100 is not available, lowest height is 1000"],
    ["a gateway", logs, -32000, "requested block is too old"],
    ["a gateway", logs, -32000, "block is out of range"]
  ],
  known: [
    ["geth", send, -32000, "already known"],
    ["reth", send, -32000, "already known"],
    ["Nethermind", send, -32010, "AlreadyKnown"],
    ["anvil", send, -32003, "transaction already imported"],
    ["OpenEthereum", send, -32010, "Transaction with the same hash was already imported."],
    ["old geth", send, -32000, "known transaction: 5d3a"],
    ["op-geth", send, -32000, "ALREADY_EXISTS: already known"]
  ],
  nonce_used: [
    ["geth", send, -32000, "nonce too low: next nonce 7, tx nonce 6"],
    ["geth, reth, erigon", send, -32000, "replacement transaction underpriced"],
    ["Nethermind", send, -32010, "OldNonce, Current nonce: 7, nonce of rejected tx: 6"],
    ["OpenEthereum", send, -32010, "Transaction nonce is too low. Try incrementing the nonce."]
  ],
  no_funds: [
    ["geth", send, -32000, "insufficient funds for gas * price + value: balance 1, tx cost 2, overshot 1"],
    ["Nethermind", send, -32010, "InsufficientFunds, Account balance: 1, cumulative cost: 2"],
    ["revm", send, -32003, "lack of funds (1) for max fee (2)"],
    [
      "Hardhat",
      send,
      -32000,
      "Sender doesn't have enough funds to send tx. The max upfront cost is: 2 and the sender's balance is: 1."
    ],
    [
      "OpenEthereum",
      send,
      -32010,
      "Insufficient funds. The account you tried to send transaction from does not have enough funds."
    ]
  ],
  invalid: [
    ["geth", send, -32000, "transaction underpriced: tip needed 1, tip permitted 0"],
    [
      "nitro",
      send,
      -32000,
      "max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2"
    ],
    ["geth", send, -32000, "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)"],
    ["Nethermind", send, -32010, "FeeTooLow, MaxFeePerGas too low"],
    ["reth", send, -32000, "exceeds block gas limit"],
    ["geth", send, -32000, "invalid sender"]
  ]
}

for (const [meaning, examples] of Object.entries(said))
  describe(meaning, () => {
    for (const [from, method, code, words] of examples)
      test(`${from}: ${words === "" ? "(no words)" : words}`, () => {
        expect<string>(meaningOf(method, code, words)).toBe(meaning)
      })
  })

test("nothing about the newest block or a transaction is pruned: such a node fails", () => {
  const lost = "missing trie node 5d3a (path ) state 0x5d3a is not available"
  expect(meaningOf(call, -32000, lost, [{}, "latest"])).toBe("declined")
  expect(meaningOf(call, -32000, lost, [{}, "0x7"])).toBe("pruned")
  expect(meaningOf("eth_estimateGas", -32000, lost, [{}])).toBe("declined")
  expect(meaningOf("eth_getTransactionReceipt", -32000, lost)).toBe("declined")
})

test("a method that the node does not offer is told from one that is refused now", () => {
  const offered = [
    "rate limit of your plan (-32005)",
    "internal error (-32603)",
    "HTTP 503",
    "too many requests"
  ]
  for (const message of offered) expect([message, isUnsupported(message)]).toEqual([message, false])
  const missing = [
    "the method eth_getBlockReceipts does not exist/is not available (-32601)",
    "Method not found (-32601)",
    "method not supported (-32004)",
    "not available on your current plan (-32000)",
    "HTTP 403"
  ]
  for (const message of missing) expect([message, isUnsupported(message)]).toEqual([message, true])
})

test("only a query for logs can be too wide", () => {
  expect(meaningOf(block, -32602, "query exceeds max block range 100")).toBe("declined")
})
