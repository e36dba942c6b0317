// Payments, newest first: filtered by status, found by id, reference code or hash.
import type { PaymentsPage } from "../payments/Api.ts"
import { Icon } from "./Icon.tsx"
import { PaymentTable } from "./PaymentTable.tsx"
import { Button, Card, Empty, fieldsOf, Loaded } from "./parts.tsx"
import { navigate } from "./router.ts"
import { useHref, useSession } from "./session.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

const statuses = [
  ["", "All"],
  ["settled", "Settled"],
  ["pending", "Pending"],
  ["failed", "Failed"]
] as const

export const Payments = () => {
  const href = useHref()
  const { place } = useSession()
  const read = (name: string) => place.query.get(name) ?? ""
  const [status, search, startingAfter] = [read("status"), read("search"), read("startingAfter")]
  const to = (change: Readonly<Record<string, string>>) =>
    href("payments", undefined, { status, search, ...change })
  const query = new URLSearchParams(
    Object.entries({ status, search, startingAfter }).filter(([, value]) => value !== "")
  ).toString()
  const page = useMerchantPage<PaymentsPage>(`/payments${query === "" ? "" : `?${query}`}`)
  const last = page.data?.payments.at(-1)?.id
  return (
    <>
      <h1>Payments</h1>
      <div class="toolbar">
        <nav class="tabs" aria-label="Status">
          {statuses.map(([value, name]) => (
            <a key={value} href={to({ status: value })} aria-current={status === value ? "true" : undefined}>
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
              aria-label="Search by id, reference code or transaction hash"
              placeholder="Id, PAY-… or 0x…"
            />
          </form>
        </search>
      </div>
      <Card flush>
        <Loaded page={page}>
          {({ payments }) =>
            payments.length === 0 ? (
              <Empty icon="payments" title={search === "" ? "No payments here" : "Nothing was found"}>
                <p>
                  {search === ""
                    ? "Payments appear here as soon as they are opened."
                    : "Search takes a whole payment id, reference code or transaction hash."}
                </p>
                {status === "" && search === "" ? null : <a href={href("payments")}>All payments</a>}
              </Empty>
            ) : (
              <PaymentTable payments={payments} />
            )
          }
        </Loaded>
      </Card>
      <nav class="paging" aria-label="Pages of payments">
        {startingAfter === "" ? null : (
          <a class="button plain" href={to({})}>
            Newest
          </a>
        )}
        {page.data?.hasMore === true && last !== undefined ? (
          <Button onClick={() => navigate(to({ startingAfter: last }))}>Older</Button>
        ) : null}
      </nav>
    </>
  )
}
