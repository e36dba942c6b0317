// Payments in rows; on a phone each is a card.
import type { PaymentsPage } from "../api/payments/Api.ts"
import { short, usd } from "./format.ts"
import { Time } from "./parts/Time.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref } from "./session.ts"

/** Which way the rows are sorted, and where another one is. */
interface Sorting {
  readonly sort: string
  readonly to: (sort: string) => string
}

const SortedHeader = (props: {
  readonly name: string
  readonly sorting: Sorting | undefined
  /** The falling one is the first to be chosen. */
  readonly falling: string
  readonly rising: string
  readonly class?: string
}) => {
  const { falling, name, rising, sorting } = props
  if (sorting === undefined)
    return (
      <th scope="col" class={props.class}>
        {name}
      </th>
    )
  const way = sorting.sort === falling ? "descending" : sorting.sort === rising ? "ascending" : undefined
  return (
    <th scope="col" class={props.class} aria-sort={way}>
      <a href={sorting.to(way === "descending" ? rising : falling)}>
        {name}
        <span aria-hidden="true">{way === undefined ? "" : way === "descending" ? " ↓" : " ↑"}</span>
      </a>
    </th>
  )
}

export const PaymentTable = ({
  payments,
  sorting
}: {
  readonly payments: PaymentsPage["payments"]
  readonly sorting?: Sorting
}) => {
  const href = useHref()
  return (
    <table class="rows">
      <thead class={sorting === undefined ? undefined : "sorting"}>
        <tr>
          <th scope="col">Payment</th>
          <th scope="col">Status</th>
          <SortedHeader name="Amount" sorting={sorting} falling="largest" rising="smallest" class="number" />
          <th scope="col">Transaction</th>
          <SortedHeader name="Opened" sorting={sorting} falling="newest" rising="oldest" />
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
