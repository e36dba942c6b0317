// A period's statement, to read, to print and to compare with the chain; and its exports.

import { useState } from "preact/hooks"
import { isTest } from "../../domain/networks.ts"
import type { BalancesView, StatementView } from "../../payments/books/Api.ts"
import type { BooksPage } from "../api/books/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Explorer } from "./components/External.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form, fieldsOf } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Table } from "./components/Table.tsx"
import { Time } from "./components/Time.tsx"
import { exactTime, short, usd } from "./format.ts"
import { navigate } from "./router.ts"
import { useHref, useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

const signed = (amount: string) => (amount.startsWith("-") ? `−${usd(amount.slice(1))}` : usd(amount))

/** The month of a day, or the one before it, as its first and last day. */
const monthOf = (day: string, back = 0) => {
  const [year = 0, month = 1] = day.split("-").map(Number)
  const text = (date: Date) => date.toISOString().slice(0, 10)
  return {
    from: text(new Date(Date.UTC(year, month - 1 - back, 1))),
    to: text(new Date(Date.UTC(year, month - back, 0)))
  }
}

const kinds = { unexplained: "Unmatched", handled: "Marked as handled", other: "Sent elsewhere" } as const

const Line = (props: {
  readonly name: string
  readonly amount: string | null
  readonly count?: number
  readonly sign?: "+" | "−"
  readonly strong?: boolean
}) => (
  <tr class={props.strong === true ? "total" : ""}>
    <th scope="row">
      {props.name}
      {props.count === undefined ? null : (
        <span class="soft">
          {" · "}
          {props.count} {props.count === 1 ? "transfer" : "transfers"}
        </span>
      )}
    </th>
    <td class="amount-cell">
      {props.amount === null
        ? "–"
        : props.sign === undefined || props.amount === "0.00"
          ? signed(props.amount)
          : `${props.sign}${usd(props.amount)}`}
    </td>
  </tr>
)

const ChainComparison = ({ balances }: { readonly balances: BalancesView | undefined }) => {
  if (balances === undefined) return <Badge tone="neutral">Reading balances…</Badge>
  if (balances.difference === null)
    return <Badge tone="neutral">Not checked: too few nodes report past balances</Badge>
  return balances.difference === "0.00" ? (
    <Badge tone="good">Reconciled</Badge>
  ) : (
    <Badge tone="warn">Differs from the chain by {signed(balances.difference)}</Badge>
  )
}

const Lines = (props: { readonly statement: StatementView; readonly balances: BalancesView | undefined }) => {
  const { balances, statement } = props
  return (
    <table class="plain statement">
      <tbody>
        <Line name="Opening balance" amount={balances?.opening ?? null} strong />
        <Line
          name="Payments received"
          amount={statement.payments.amount}
          count={statement.payments.count}
          sign="+"
        />
        <Line
          name="Refunds sent"
          amount={statement.refunds.amount}
          count={statement.refunds.count}
          sign="−"
        />
        <Line
          name="Received, unmatched"
          amount={statement.unexplained.amount}
          count={statement.unexplained.count}
          sign="+"
        />
        <Line
          name="Received, marked as handled"
          amount={statement.handled.amount}
          count={statement.handled.count}
          sign="+"
        />
        <Line name="Sent elsewhere" amount={statement.other.amount} count={statement.other.count} sign="−" />
        <Line name="Net change" amount={statement.change} strong />
        <Line name="Closing balance" amount={balances?.closing ?? null} strong />
      </tbody>
    </table>
  )
}

const OtherTransfers = (props: {
  readonly statement: StatementView
  readonly explorerUrl: string | null
}) => {
  const { explorerUrl, statement } = props
  if (statement.transfers.length === 0)
    return <p class="soft">Every transfer of the period is a payment or a refund.</p>
  return (
    <>
      <Table
        rows={statement.transfers}
        keyOf={({ transactionId }, index) => `${transactionId} ${index}`}
        columns={[
          { name: "Date", cell: ({ at }) => <Time at={at} /> },
          {
            name: "Type",
            cell: ({ kind, note }) => (
              <>
                {kinds[kind]}
                {note === null ? null : <span class="soft break"> {note}</span>}
              </>
            )
          },
          {
            name: "Amount",
            class: "number",
            cell: ({ amount, direction }) => `${direction === "in" ? "+" : "−"}${usd(amount)}`
          },
          {
            name: "From or to",
            label: ({ direction }) => (direction === "in" ? "From" : "To"),
            class: "mono",
            cell: ({ direction, from, to }) => short(direction === "in" ? from : to)
          },
          {
            name: "Transaction",
            cell: ({ transactionId }) => (
              <Explorer url={explorerUrl} path={`tx/${transactionId}`}>
                <span class="mono">{short(transactionId, 8, 4)}</span>
              </Explorer>
            )
          }
        ]}
      />
      {statement.hasMore ? <p class="soft">The transfers export contains the rest.</p> : null}
    </>
  )
}

const exported = { payments: "Payments", refunds: "Refunds", transfers: "All transfers" }
const formats = {
  "format=csv": "CSV",
  "format=csv&decimal=comma": "CSV, decimal comma",
  "format=json": "JSON"
}

const Select = (props: {
  readonly label: string
  readonly of: Readonly<Record<string, string>>
  readonly onChange: (value: string) => void
}) => (
  <label>
    {props.label}{" "}
    <select class="input" onChange={({ currentTarget }) => props.onChange(currentTarget.value)}>
      {Object.entries(props.of).map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  </label>
)

const Exports = ({ statement }: { readonly statement: StatementView }) => {
  const { api } = useSession()
  const { from, timeZone, to } = statement
  const [kind, setKind] = useState("payments")
  const [format, setFormat] = useState("format=csv")
  const period = new URLSearchParams({ from, to, timeZone })
  return (
    <div class="period">
      <Select label="Data" of={exported} onChange={setKind} />
      <Select label="Format" of={formats} onChange={setFormat} />
      <a class="button plain" href={`/dashboard/api${api}/exports/${kind}?${period}&${format}`} download>
        Export
      </a>
    </div>
  )
}

const ZoneForm = (props: { readonly timeZone: string; readonly reload: () => Promise<void> }) => {
  const { api } = useSession()
  const [open, setOpen] = useState(false)
  const change = useAction(async (fields: Fields) => {
    await call("PUT", `${api}/books/time-zone`, { timeZone: (fields["timeZone"] ?? "").trim() })
    setOpen(false)
    toast("Time zone changed")
    await props.reload()
  })
  if (!open)
    return (
      <p class="hint no-print">
        Days are in the time zone {props.timeZone}.{" "}
        <button type="button" class="link" onClick={() => setOpen(true)}>
          Change
        </button>
      </p>
    )
  return (
    <div class="no-print">
      <Form submit="Save" action={change}>
        <Field label="Time zone" name="timeZone" value={props.timeZone} placeholder="Europe/Berlin" />
      </Form>
    </div>
  )
}

const ComparedStatement = ({ data }: { readonly data: BooksPage }) => {
  const { api } = useSession()
  const { statement } = data
  const { from, to } = statement
  const balances = usePage<{ readonly balances: BalancesView }>(
    `${api}/statement?${new URLSearchParams({ from, to })}`,
    30_000
  )
  return (
    <Card
      title={`Statement, ${from} to ${to}`}
      action={<ChainComparison balances={balances.data?.balances} />}
    >
      <p class="soft">
        {data.merchant}, {isTest(statement.env) ? "test payments" : "live payments"}, in USDC. Time zone:{" "}
        {statement.timeZone}.
        {statement.until === null ? "" : ` Read from the chain up to ${exactTime(statement.until)}.`}
        {typeof statement.denyListAt !== "string"
          ? ""
          : ` Transfers from addresses on the operator’s deny list of ${exactTime(statement.denyListAt)} need your decision.`}
      </p>
      <Lines statement={statement} balances={balances.data?.balances} />
      {balances.data?.balances.difference === "0.00" || balances.data === undefined ? null : (
        <p class="hint">
          {statement.keptSince === null
            ? "The books start when the service began to read the chain."
            : `The books start on ${exactTime(statement.keptSince)}.`}{" "}
          Earlier transfers are on the chain but not in the books.
        </p>
      )}
    </Card>
  )
}

const BooksOfPeriod = (props: { readonly data: BooksPage; readonly reload: () => Promise<void> }) => {
  const { data } = props
  const { statement } = data
  const href = useHref()
  const { from, to } = statement
  const go = (period: { readonly from: string; readonly to: string }) =>
    href("books", undefined, { from: period.from, to: period.to })
  const [now, before] = [monthOf(data.today), monthOf(data.today, 1)]
  return (
    <div class="stack large">
      <div class="toolbar no-print">
        <nav class="tabs" aria-label="Period">
          <a href={go(now)} aria-current={from === now.from ? "true" : undefined}>
            This month
          </a>
          <a href={go(before)} aria-current={from === before.from ? "true" : undefined}>
            Last month
          </a>
        </nav>
        <form
          class="period"
          onSubmit={(event) => {
            const fields = fieldsOf(event)
            navigate(go({ from: fields["from"] ?? from, to: fields["to"] ?? to }))
          }}
        >
          <label>
            From <input key={`from ${from}`} class="input" type="date" name="from" defaultValue={from} />
          </label>
          <label>
            To <input key={`to ${to}`} class="input" type="date" name="to" defaultValue={to} />
          </label>
          <Button submit>Apply</Button>
          <Button onClick={() => print()}>Print</Button>
        </form>
      </div>
      {/* Other figures are compared with the chain again. */}
      <ComparedStatement key={`${from} ${to} ${statement.change}`} data={data} />
      <Card title="Other transfers">
        <OtherTransfers statement={statement} explorerUrl={data.explorerUrl} />
      </Card>
      <div class="no-print">
        <Card title="Export the period">
          <Exports statement={statement} />
        </Card>
      </div>
      <ZoneForm timeZone={data.timeZone} reload={props.reload} />
    </div>
  )
}

export const Books = () => {
  const { place } = useSession()
  const query = new URLSearchParams(
    ["from", "to"].flatMap((name) => {
      const value = place.query.get(name)
      return value === null ? [] : [[name, value]]
    })
  ).toString()
  const page = useMerchantPage<BooksPage>(`/books${query === "" ? "" : `?${query}`}`, {
    everyMillis: 10_000
  })
  return (
    <>
      <h1>Books</h1>
      <Loaded page={page}>{(data) => <BooksOfPeriod data={data} reload={page.reload} />}</Loaded>
    </>
  )
}
