// Payments in rows; on a phone each takes two lines.
import type { PaymentsPage } from "../api/payments/Api.ts"
import { Table } from "./components/Table.tsx"
import { Time } from "./components/Time.tsx"
import { usd } from "./format.ts"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref } from "./session.ts"

/** The current sort order, and the link to another one. */
interface Sorting {
  readonly sort: string
  readonly to: (sort: string) => string
}

/** The descending order is chosen first. */
const sortedBy = (sorting: Sorting | undefined, falling: string, rising: string) => {
  if (sorting === undefined) return {}
  const { sort, to } = sorting
  const way =
    sort === falling ? ("descending" as const) : sort === rising ? ("ascending" as const) : undefined
  return { sorted: { way, href: to(way === "descending" ? rising : falling) } }
}

/** The end of an order's URL, in which orders differ. */
const orderOf = (intentUrl: string): string => {
  const url = URL.parse(intentUrl)
  const last = url?.pathname.split("/").findLast((part) => part !== "")
  return url === null ? intentUrl : `${last ?? url.host}${url.search}`
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
    <Table
      class="payments"
      rows={payments}
      keyOf={({ payment }) => payment.id}
      columns={[
        {
          name: "Payment",
          cell: ({ payment: { id, refCode } }) => (
            <a class="row-link mono" href={href("payments", id)}>
              {refCode}
            </a>
          )
        },
        { name: "Status", cell: ({ state }) => <StatusBadge.Payment status={state} /> },
        {
          name: "Amount",
          class: "number strong",
          ...sortedBy(sorting, "largest", "smallest"),
          cell: ({ payment }) => usd(payment.amount)
        },
        {
          name: "Order",
          class: "soft",
          cell: ({ payment: { intentUrl } }) => (
            <span class="order" title={intentUrl}>
              {orderOf(intentUrl)}
            </span>
          )
        },
        {
          name: "Opened",
          class: "soft",
          ...sortedBy(sorting, "newest", "oldest"),
          cell: ({ payment }) => <Time at={payment.createdAt} />
        }
      ]}
    />
  )
}
