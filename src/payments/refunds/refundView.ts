// Encodes refunds for the API and the dashboard.
import { formatUsd } from "../../domain/Money.ts"
import { isTest, networks } from "../../domain/networks.ts"
import type { RefundView } from "./Api.ts"
import type { Refund } from "./RefundRepo/RefundStore.ts"

/** A refund as the API returns it. */
export const refundView = (refund: Refund): RefundView => {
  const { chainId, usdc } = networks[refund.env]
  const { amount, recipient, status } = refund
  return {
    id: refund.id,
    status,
    ...(refund.paymentId === null ? {} : { paymentId: refund.paymentId }),
    ...(refund.transferId === null ? {} : { incomingTransferId: refund.transferId }),
    amount: formatUsd(amount),
    currency: "USD",
    env: refund.env,
    livemode: !isTest(refund.env),
    recipient,
    ...(refund.reason === null ? {} : { reason: refund.reason }),
    beyondPaid: refund.beyondPaid,
    createdAt: refund.createdAt.toISOString(),
    ...(refund.transactionId === null ? {} : { transactionId: refund.transactionId }),
    ...(refund.sender === null ? {} : { sender: refund.sender }),
    ...(refund.provenAt === null ? {} : { provenAt: refund.provenAt.toISOString() }),
    ...(refund.droppedAt === null ? {} : { droppedAt: refund.droppedAt.toISOString() }),
    ...(refund.failureReason === null ? {} : { failureReason: refund.failureReason }),
    ...(status === "pending"
      ? { uri: `ethereum:${usdc.address}@${chainId}/transfer?address=${recipient}&uint256=${amount}` }
      : {}),
    token: { address: usdc.address, chainId }
  }
}
