// One delivery: every attempt with its request and response.
import { dailyWorkRoles } from "../../domain/roleSets.ts"
import type { DeliveryPage } from "../api/webhooks/Api.ts"
import { call, useAction } from "./api.ts"
import { Back } from "./components/Back.tsx"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { CodeBlock } from "./components/CodeBlock.tsx"
import { Code } from "./components/Copy.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Time } from "./components/Time.tsx"
import { millis, short } from "./format.ts"
import { May } from "./May.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useSession } from "./session.ts"
import { type AttemptedDelivery, toastOutcome } from "./toastOutcome.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { failureWords, outcomeWords } from "./words.ts"

type Attempt = DeliveryPage["delivery"]["attempts"][number]

const AttemptCard = ({ attempt, body }: { readonly attempt: Attempt; readonly body: string }) => {
  const running = attempt.durationMs === null && attempt.failure === null
  const tone = running ? "info" : attempt.failure === null ? "good" : "bad"
  return (
    <li class="attempt">
      <p class="event">
        <strong>
          Attempt {attempt.number}
          {attempt.manual ? ", manual" : ""}
        </strong>
        <Badge tone={tone}>{outcomeWords(attempt)}</Badge>
        <span class="soft">
          <Time at={attempt.startedAt} exact />
          {attempt.durationMs === null ? "" : `, ${millis(attempt.durationMs)}`}
        </span>
      </p>
      {attempt.failure === null || attempt.responseStatus === null ? null : (
        <p class="soft">{failureWords[attempt.failure]}.</p>
      )}
      <details>
        <summary>{attempt.responseStatus === null ? "Request" : "Request and response"}</summary>
        {attempt.requestHead === null ? (
          <p class="soft">
            {attempt.responseStatus === null
              ? "Nothing was sent: the attempt ended before a connection was established."
              : "The request was not stored."}
          </p>
        ) : (
          <>
            <CodeBlock title="Request line and headers" text={attempt.requestHead} what="the headers" />
            <CodeBlock title="Body, byte for byte" text={body} what="the body" />
          </>
        )}
        {attempt.responseStatus === null ? null : (attempt.responseBody ?? "") === "" ? (
          <p class="response">Response: HTTP {attempt.responseStatus}, without a body.</p>
        ) : (
          <CodeBlock
            title={`Response: HTTP ${attempt.responseStatus}, the first 2 KiB of its body`}
            text={attempt.responseBody ?? ""}
            what="the response"
          />
        )}
      </details>
    </li>
  )
}

export const Delivery = () => {
  const { api, place } = useSession()
  const href = useHref()
  const page = useMerchantPage<DeliveryPage>(`/deliveries/${place.id ?? ""}`)
  const resend = useAction(async () => {
    const { delivery } = await call<AttemptedDelivery>("POST", `${api}/events/${place.id ?? ""}/resend`)
    toastOutcome("Event", delivery)
    await page.reload()
  })
  return (
    <>
      <Back to="webhooks" name="Webhooks" />
      <Loaded page={page}>
        {({ delivery }) => (
          <div class="stack large">
            <div class="head">
              <h1 class="mono">{delivery.type}</h1>
              <StatusBadge.Delivery status={delivery.status} />
              <May roles={dailyWorkRoles}>
                <Button
                  kind={delivery.status === "failed" ? "primary" : "plain"}
                  icon="refresh"
                  busy={resend.busy}
                  disabled={delivery.status === "pending"}
                  onClick={() => void resend.run()}
                >
                  Resend
                </Button>
              </May>
            </div>
            <Problem error={resend.error} />
            <Card>
              <Facts inline>
                <Fact name="Event ID">
                  <Code text={delivery.id} shown={short(delivery.id)} what="the event's id" />
                </Fact>
                {delivery.paymentId === null ? null : (
                  <Fact name="Payment">
                    <a class="mono" href={href("payments", delivery.paymentId)}>
                      {delivery.refCode}
                    </a>
                  </Fact>
                )}
                <Fact name="Created">
                  <Time at={delivery.createdAt} exact />
                </Fact>
                {delivery.dueAt === null ? null : (
                  <Fact name="Next attempt">
                    <Time at={delivery.dueAt} exact />
                  </Fact>
                )}
              </Facts>
            </Card>
            <Card title="Attempts">
              {delivery.attempts.length === 0 ? (
                <p class="soft">
                  {delivery.status === "cancelled"
                    ? "No attempts are stored: there was no endpoint, or it was deleted. Register an endpoint, then resend."
                    : delivery.status === "pending"
                      ? "Waiting for the next attempt."
                      : "Attempts older than the retention period were deleted."}
                </p>
              ) : (
                <ol class="attempts">
                  {delivery.attempts.map((attempt) => (
                    <AttemptCard key={attempt.number} attempt={attempt} body={delivery.body} />
                  ))}
                </ol>
              )}
            </Card>
          </div>
        )}
      </Loaded>
    </>
  )
}
