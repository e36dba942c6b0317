// Payments in rows; on a phone each is a card.
import type { PaymentsPage } from "../payments/Api.ts"
import { short, usd } from "./format.ts"
import { Time } from "./parts.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref } from "./session.ts"

export const PaymentTable = ({ payments }: { readonly payments: PaymentsPage["payments"] }) => {
  const href = useHref()
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Payment</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Amount
          </th>
          <th scope="col">Transaction</th>
          <th scope="col">Opened</th>
        </tr>
      </thead>
      <tbody>
        {payments.map((payment) => (
          <tr key={payment.id}>
            <td data-label="Payment">
              <a class="row-link mono" href={href("payments", payment.id)}>
                {payment.refCode}
              </a>
            </td>
            <td data-label="Status">
              <StatusBadge.Payment status={payment.status} />
            </td>
            <td data-label="Amount" class="number strong">
              {usd(payment.amount)}
            </td>
            <td data-label="Transaction" class="mono soft">
              {payment.reportedTransactionId === undefined ? "–" : short(payment.reportedTransactionId)}
            </td>
            <td data-label="Opened" class="soft">
              <Time at={payment.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
