// A period at a glance: settled, refunded, failed and pending payments.
import type { OverviewPage } from "../api/payments/Api.ts"
import { maxPending } from "../api/payments/maxPending.ts"
import { useOpenAlerts } from "./badge.ts"
import { Chart } from "./Chart.tsx"
import { Card } from "./components/Card.tsx"
import { Empty } from "./components/Empty.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { FirstRun, isFirstRun } from "./FirstRun.tsx"
import { count, duration, pluralised, usd } from "./format.ts"
import { PaymentTable } from "./PaymentTable.tsx"
import { navigate } from "./router.ts"
import { useHref, useSession } from "./session.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

const Figure = (props: {
  readonly label: string
  readonly value: string
  readonly note: string
  readonly href?: string
  readonly tone?: "warn" | "bad"
}) => {
  const inside = (
    <>
      <span class="figure-label">{props.label}</span>
      <span class={`figure-value ${props.tone ?? ""}`}>{props.value}</span>
      <span class="figure-note">{props.note}</span>
    </>
  )
  return props.href === undefined ? (
    <div class="figure">{inside}</div>
  ) : (
    <a class="figure" href={props.href}>
      {inside}
    </a>
  )
}

const dayBefore = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)

const ranges = [7, 30, 90] as const

/** 7, 30 or 90 days up to today, or a chosen period, which the URL contains. */
const Range = ({ data }: { readonly data: OverviewPage }) => {
  const href = useHref()
  const { from, to } = data.period
  const at = (since: string, until: string) => href("", undefined, { from: since, to: until })
  return (
    <div class="toolbar">
      <nav class="tabs" aria-label="Period">
        {ranges.map((days) => {
          const first = dayBefore(data.today, days - 1)
          return (
            <a
              key={days}
              href={days === 30 ? href("") : at(first, "")}
              aria-current={from === first && to === data.today ? "true" : undefined}
            >
              {days} days
            </a>
          )
        })}
      </nav>
      <form
        class="range short"
        key={`${from} ${to}`}
        onChange={({ currentTarget }) => {
          const fields = new FormData(currentTarget)
          navigate(at(String(fields.get("from") ?? ""), String(fields.get("to") ?? "")))
        }}
      >
        <label>
          From <input class="input" type="date" name="from" defaultValue={from} max={to} />
        </label>
        <label>
          To <input class="input" type="date" name="to" defaultValue={to} min={from} max={data.today} />
        </label>
      </form>
    </div>
  )
}

const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)}%`

const Figures = ({ data }: { readonly data: OverviewPage }) => {
  const href = useHref()
  const openAlerts = useOpenAlerts()
  const { conversion, period, secondsToSettle, webhooks } = data
  const sent = webhooks.delivered + webhooks.failed
  return (
    <div class="figures">
      <Figure
        label="Settled volume"
        value={usd(data.settled.volume)}
        note={pluralised(data.settled.count, "payment")}
        href={href("payments", undefined, { status: "settled", from: period.from, to: period.to })}
      />
      <Figure
        label="Refunded"
        value={usd(data.refunded.volume)}
        note={pluralised(data.refunded.count, "refund")}
        href={href("books", undefined, { from: period.from, to: period.to })}
      />
      <Figure
        label="Conversion"
        value={conversion.opened === 0 ? "–" : percent(conversion.settled, conversion.opened)}
        note={`${count(conversion.settled)} of ${pluralised(conversion.opened, "payment")}`}
      />
      <Figure
        label="Time to settle"
        value={secondsToSettle === null ? "–" : duration(secondsToSettle.median)}
        note={
          secondsToSettle === null
            ? "from opening to settlement"
            : `95% within ${duration(secondsToSettle.p95)}`
        }
      />
      <Figure
        label="Webhooks"
        value={sent === 0 ? "–" : percent(webhooks.delivered, sent)}
        note={webhooks.failed === 0 ? "delivered" : `delivered, ${count(webhooks.failed)} failed`}
        href={href("webhooks")}
        {...(webhooks.failed === 0 ? {} : { tone: "warn" as const })}
      />
      <Figure
        label="In progress"
        value={count(data.pending - data.incomplete)}
        note={
          data.pending < maxPending
            ? `and ${count(data.incomplete)} not started`
            : `and ${count(data.incomplete)} not started, of the newest ${count(maxPending)}`
        }
        href={href("payments", undefined, { status: "pending" })}
      />
      <Figure
        label="Failed"
        value={count(data.failed)}
        note="expired or unverified"
        href={href("payments", undefined, { status: "failed" })}
      />
      <Figure
        label="Needs attention"
        value={count(openAlerts)}
        note={openAlerts === 0 ? "nothing open" : openAlerts === 1 ? "open alert" : "open alerts"}
        href={href("alerts")}
        {...(openAlerts === 0 ? {} : { tone: "bad" as const })}
      />
    </div>
  )
}

export const Overview = () => {
  const href = useHref()
  const { place } = useSession()
  const query = new URLSearchParams(
    ["from", "to"].flatMap((name) => {
      const value = place.query.get(name) ?? ""
      return value === "" ? [] : [[name, value]]
    })
  ).toString()
  const page = useMerchantPage<OverviewPage>(`/overview${query === "" ? "" : `?${query}`}`, {
    everyMillis: 5_000,
    follows: true
  })
  return (
    <>
      <h1>Overview</h1>
      <FirstRun />
      <Loaded page={page}>
        {(data) =>
          data.latest.length === 0 && isFirstRun(place) ? null : (
            <div class="stack large">
              <Range data={data} />
              <Figures data={data} />
              {data.hasWebhookEndpoint || data.settled.count === 0 ? null : (
                <p class="notice">
                  This environment has no webhook endpoint, so settlement events are not delivered.{" "}
                  <a href={href("webhooks")}>Register one</a>
                </p>
              )}
              <Card title={`Settled per day (${data.period.timeZone})`}>
                {data.settled.count === 0 ? (
                  <Empty icon="overview" title="No settlements in this period" />
                ) : (
                  <Chart days={data.days} timeZone={data.period.timeZone} />
                )}
              </Card>
              <Card
                title="Latest payments"
                flush
                action={
                  <a href={href("payments")} class="button quiet">
                    All payments
                  </a>
                }
              >
                {data.latest.length === 0 ? (
                  <Empty icon="payments" title="No payments yet">
                    <p>
                      Create a payment intent with a {place.env} secret key, then open it in the checkout.{" "}
                      <a href={href("keys")}>API keys</a>
                    </p>
                  </Empty>
                ) : (
                  <PaymentTable payments={data.latest} />
                )}
              </Card>
            </div>
          )
        }
      </Loaded>
    </>
  )
}
