// The limit's and the peer's form of a payment's row: the same bytes as the service.

export const token = { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", chainId: 84532 }

export interface PaymentRow {
  id: string
  status: string
  amount: string
  ref_code: string
  intent_url: string
  payer_type: string
  created_at: Date
  reported_at: Date | null
  transaction_id: Uint8Array | null
  payer_address: Uint8Array | null
  settled_at: Date | null
  failure_reason: string | null
}

export interface Change {
  amountAtomic: string
  chainId: number
  receiver: string
  tokenAddress: string
}

export const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}` as const

export const usd = (atomic: bigint) => {
  const fraction = (atomic % 1_000_000n).toString().padStart(6, "0")
  return `${atomic / 1_000_000n}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, "")}`
}

/** `address` adds an address's checksum to its bytes. */
export const view = (row: PaymentRow, address: (bytes: Uint8Array) => string) => ({
  id: row.id,
  amount: usd(BigInt(row.amount)),
  currency: "USD",
  env: "test",
  livemode: false,
  status: row.status,
  refCode: row.ref_code,
  intentUrl: row.intent_url,
  createdAt: row.created_at.toISOString(),
  payerType: row.payer_type,
  ...(row.reported_at === null || row.transaction_id === null || row.payer_address === null
    ? {}
    : {
        payerAddress: address(row.payer_address),
        reportedAt: row.reported_at.toISOString(),
        reportedTransactionId: hex(row.transaction_id)
      }),
  ...(row.settled_at === null ? {} : { settledAt: row.settled_at.toISOString() }),
  ...(row.status === "pending" ? {} : { failureReason: row.failure_reason }),
  token
})

export const canonical = (changes: ReadonlyArray<Change>) =>
  changes
    .map((one) => `${one.chainId} ${one.tokenAddress} ${one.receiver} ${one.amountAtomic}`.toLowerCase())
    .sort()
    .join("\n")

export const refCode = () => `PAY-${Math.random().toString(36).slice(2, 10).toUpperCase().padEnd(8, "0")}`
