// One payment: its facts, its history, and its JSON.
import { useEffect } from "preact/hooks"
import type { PaymentDetail } from "../api/payments/Api.ts"
import { Back } from "./components/Back.tsx"
import { Badge } from "./components/Badge.tsx"
import { Card } from "./components/Card.tsx"
import { CodeBlock } from "./components/CodeBlock.tsx"
import { Code } from "./components/Copy.tsx"
import { Explorer, External } from "./components/External.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Time } from "./components/Time.tsx"
import { short, usd } from "./format.ts"
import { OrderLink } from "./OrderLink.tsx"
import { Refunds } from "./Refunds.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useSession } from "./session.ts"
import { Timeline } from "./Timeline.tsx"
import { titleOf } from "./titleOf.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

/** What to do about a reported transfer of another amount, while the payment still waits. */
const WrongAmount = ({ data: { payment, timeline } }: { readonly data: PaymentDetail }) => {
  const href = useHref()
  const verdict = timeline.findLast((event) => event.kind === "verdict")
  if (payment.status !== "pending" || verdict?.verdict !== "amount" || verdict.actual === null) return null
  const isLess = Number.parseFloat(verdict.actual) < Number.parseFloat(payment.amount)
  return (
    <p class="notice">
      A transfer of {usd(verdict.actual)} does not match {usd(payment.amount)}.{" "}
      {isLess
        ? "Request the outstanding amount, or refund the transfer"
        : "Refund the transfer, and ask the buyer for the exact amount"}
      , under <a href={href("alerts")}>Needs attention</a>.
    </p>
  )
}

const Details = ({
  data,
  reload
}: {
  readonly data: PaymentDetail
  readonly reload: () => Promise<void>
}) => {
  const href = useHref()
  const { explorerUrl, payment, receiver, state } = data
  const address = (text: string, what: string) => (
    <>
      <Code text={text} shown={short(text)} what={what} />{" "}
      <Explorer url={explorerUrl} path={`address/${text}`} />
    </>
  )
  const raw = JSON.stringify(payment, null, 2)
  return (
    <div class="stack large">
      <header class="payment-head">
        <p class="amount">
          {usd(payment.amount)} <span class="soft">USDC</span>
        </p>
        <StatusBadge.Payment status={state} />
        {payment.payerType === "agent" ? <Badge tone="info">Paid by an agent</Badge> : null}
      </header>
      <WrongAmount data={data} />
      <div class="columns">
        <Card title="Timeline">
          <Timeline events={data.timeline} explorerUrl={explorerUrl} />
          {data.waitsUntil === undefined ? null : (
            <p class="hint">
              Waiting for the buyer’s transfer until <Time at={data.waitsUntil} exact />. If none arrives, the
              payment fails.
            </p>
          )}
        </Card>
        <div class="stack large">
          <Card title="Details">
            <Facts>
              <Fact name="Payment ID">
                <Code text={payment.id} shown={short(payment.id)} what="the payment's id" />
              </Fact>
              <Fact name="Opened">
                <Time at={payment.createdAt} exact />
              </Fact>
              {payment.settledAt === undefined ? null : (
                <Fact name="Settled">
                  <Time at={payment.settledAt} exact />
                </Fact>
              )}
              <Fact name="Receiving address">{address(receiver, "the receiving address")}</Fact>
              {payment.payerAddress === undefined ? null : (
                <Fact name={payment.payerType === "agent" ? "Agent" : "Buyer"}>
                  {address(payment.payerAddress, "the payer's address")}
                </Fact>
              )}
              {payment.reportedTransactionId === undefined ? null : (
                <Fact name="Transaction">
                  <Code
                    text={payment.reportedTransactionId}
                    shown={short(payment.reportedTransactionId)}
                    what="the transaction hash"
                  />{" "}
                  <Explorer url={explorerUrl} path={`tx/${payment.reportedTransactionId}`} />
                </Fact>
              )}
              {data.receiptUrl === null ? null : (
                <Fact name="Receipt">
                  <External href={data.receiptUrl}>Open the receipt</External>
                </Fact>
              )}
              <Fact name={payment.payerType === "agent" ? "Resource" : "Order"}>
                <OrderLink url={payment.intentUrl} />
              </Fact>
            </Facts>
          </Card>
          <Refunds
            of={{ paymentId: payment.id }}
            part={data.refunds}
            explorerUrl={explorerUrl}
            reload={reload}
          />
          {data.deliveries.length === 0 ? null : (
            <Card title="Webhooks">
              <ul class="list">
                {data.deliveries.map(({ id, type, status }) => (
                  <li key={id}>
                    <a href={href("webhooks", id)} class="mono">
                      {type}
                    </a>
                    <StatusBadge.Delivery status={status} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </div>
      </div>
      <details class="card raw">
        <summary>Raw JSON</summary>
        <CodeBlock text={raw} what="the JSON" />
      </details>
    </div>
  )
}

export const Payment = () => {
  const { place, session } = useSession()
  const page = useMerchantPage<PaymentDetail>(`/payments/${place.id ?? ""}`)
  const refCode = page.data?.payment.refCode
  const merchant = session.merchants.find(({ id }) => id === place.merchantId)?.name
  useEffect(() => {
    if (refCode !== undefined) document.title = titleOf(refCode, merchant, place.env)
  }, [refCode, merchant, place.env])
  return (
    <>
      <Back to="payments" name="Payments" />
      <h1 class="mono">{refCode ?? "Payment"}</h1>
      <Loaded page={page}>{(data) => <Details data={data} reload={page.reload} />}</Loaded>
    </>
  )
}
