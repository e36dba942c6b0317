// Payments, filtered by search text, status and days, and sorted. The URL contains the whole query.
import type { PaymentsPage } from "../api/payments/Api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Empty } from "./components/Empty.tsx"
import { fieldsOf } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Icon } from "./Icon.tsx"
import { PaymentTable } from "./PaymentTable.tsx"
import { navigate } from "./router.ts"
import { useHref, useSession } from "./session.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

const statuses = [
  ["", "All", ""],
  ["settled", "Settled", ""],
  ["pending", "In progress", "A wallet has announced, signed or sent it"],
  ["incomplete", "Not started", "Opened; no wallet has announced it"],
  ["failed", "Failed", ""]
] as const

const names = ["status", "search", "from", "to", "sort", "startingAfter"] as const
type Query = Readonly<Record<(typeof names)[number], string>>

const Nothing = ({
  isFiltered,
  understood
}: {
  readonly isFiltered: boolean
  readonly understood: boolean
}) => {
  const href = useHref()
  return (
    <Empty icon="payments" title={isFiltered ? "No payments match" : "No payments here"}>
      {isFiltered ? null : <p>Payments appear here as soon as they are opened.</p>}
      {understood ? null : (
        <p>
          Type an amount, or the beginning of a reference code (at least 3 characters after PAY-), of an
          order’s URL, or of a payer or transaction (at least 4 digits after 0x).
        </p>
      )}
      {isFiltered ? <a href={href("payments")}>All payments</a> : null}
    </Empty>
  )
}

export const Payments = () => {
  const href = useHref()
  const { place } = useSession()
  const read = (name: string) => place.query.get(name) ?? ""
  const current: Query = {
    status: read("status"),
    search: read("search"),
    from: read("from"),
    to: read("to"),
    sort: read("sort"),
    startingAfter: read("startingAfter")
  }
  // Any change starts again at the first page.
  const to = (change: Partial<Query>) =>
    href("payments", undefined, { ...current, startingAfter: "", ...change })
  const query = new URLSearchParams(Object.entries(current).filter(([, value]) => value !== "")).toString()
  const page = useMerchantPage<PaymentsPage>(`/payments${query === "" ? "" : `?${query}`}`, { follows: true })
  const last = page.data?.payments.at(-1)?.payment.id
  const { status, search, from, to: until, sort } = current
  const isFiltered = [status, search, from, until].some((one) => one !== "")
  return (
    <>
      <h1>Payments</h1>
      <div class="toolbar">
        <nav class="tabs" aria-label="Status">
          {statuses.map(([value, name, hint]) => (
            <a
              key={value}
              href={to({ status: value })}
              aria-current={status === value ? "true" : undefined}
              title={hint === "" ? undefined : hint}
            >
              {name}
            </a>
          ))}
        </nav>
        <search class="search">
          <form onSubmit={(event) => navigate(to({ search: (fieldsOf(event)["search"] ?? "").trim() }))}>
            <Icon name="search" />
            <input
              key={search}
              class="input"
              type="search"
              name="search"
              defaultValue={search}
              aria-label="Search by the beginning of a reference code, order, payer or transaction, or by amount"
              aria-keyshortcuts="/"
              placeholder="PAY-…, order, 0x… or 12.50"
            />
          </form>
        </search>
        <form
          class="range"
          key={`${from} ${until}`}
          onChange={({ currentTarget }) => {
            const fields = new FormData(currentTarget)
            navigate(to({ from: String(fields.get("from") ?? ""), to: String(fields.get("to") ?? "") }))
          }}
        >
          <label>
            From <input class="input" type="date" name="from" defaultValue={from} max={until} />
          </label>
          <label>
            To <input class="input" type="date" name="to" defaultValue={until} min={from} />
          </label>
          {from === "" && until === "" ? null : (
            <a class="button quiet" href={to({ from: "", to: "" })}>
              All days
            </a>
          )}
        </form>
      </div>
      <Card flush>
        <Loaded page={page}>
          {({ payments, understood }) =>
            payments.length === 0 ? (
              <Nothing isFiltered={isFiltered} understood={understood} />
            ) : (
              <PaymentTable
                payments={payments}
                sorting={{
                  sort: sort === "" ? "newest" : sort,
                  to: (next) => to({ sort: next === "newest" ? "" : next })
                }}
              />
            )
          }
        </Loaded>
      </Card>
      <nav class="paging" aria-label="Pages of payments">
        {current.startingAfter === "" ? null : (
          <a class="button plain" href={to({})}>
            First page
          </a>
        )}
        {page.data?.hasMore === true && last !== undefined ? (
          <Button onClick={() => navigate(to({ startingAfter: last }))}>Next page</Button>
        ) : null}
      </nav>
    </>
  )
}
