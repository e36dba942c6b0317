// The last thirty days at a glance.
import type { OverviewPage } from "../payments/Api.ts"
import { Chart } from "./Chart.tsx"
import { FirstRun } from "./FirstRun.tsx"
import { count, usd } from "./format.ts"
import { PaymentTable } from "./PaymentTable.tsx"
import { Card, Empty, Loaded } from "./parts.tsx"
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

export const Overview = () => {
  const href = useHref()
  const { place } = useSession()
  const page = useMerchantPage<OverviewPage>("/overview", 5_000)
  return (
    <>
      <h1>Overview</h1>
      <FirstRun />
      <Loaded page={page}>
        {(data) => (
          <div class="stack large">
            <div class="figures">
              <Figure
                label="Settled volume"
                value={usd(data.settled.volume)}
                note={`${count(data.settled.count)} payments in 30 days`}
                href={href("payments", undefined, { status: "settled" })}
              />
              <Figure
                label="Pending"
                value={count(data.pending)}
                note="waiting for a transfer"
                href={href("payments", undefined, { status: "pending" })}
              />
              <Figure
                label="Failed"
                value={count(data.failed)}
                note="in 30 days"
                href={href("payments", undefined, { status: "failed" })}
              />
              <Figure
                label="Needs attention"
                value={count(data.openAlerts)}
                note={data.openAlerts === 0 ? "nothing to look at" : "to look at"}
                href={href("alerts")}
                {...(data.openAlerts === 0 ? {} : { tone: "bad" as const })}
              />
            </div>
            {data.hasWebhookEndpoint ? null : (
              <p class="notice">
                No webhook endpoint in this environment: settlement events are not delivered.{" "}
                <a href={href("webhooks")}>Register one</a>
              </p>
            )}
            <Card title="Settlements">
              {data.settled.count === 0 ? (
                <Empty icon="overview" title="No settlements in the last 30 days" />
              ) : (
                <Chart days={data.days} />
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
        )}
      </Loaded>
    </>
  )
}
