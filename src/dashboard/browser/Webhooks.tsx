// The environment's webhook endpoint and its deliveries.
import { useState } from "preact/hooks"
import { attemptsInWords } from "../../domain/attemptsInWords.ts"
import { integrationRoles } from "../../domain/roleSets.ts"
import type { EndpointWithSecret } from "../../webhooks/Api.ts"
import type { AttemptSummary, DeliverySummary, WebhooksPage } from "../api/webhooks/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Secret } from "./components/Copy.tsx"
import { ShownOnce } from "./components/Dialog.tsx"
import { Empty } from "./components/Empty.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Table } from "./components/Table.tsx"
import { Time } from "./components/Time.tsx"
import { EndpointCard, EndpointForm } from "./EndpointCard.tsx"
import { millis } from "./format.ts"
import { May } from "./May.tsx"
import { navigate } from "./router.ts"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useSession } from "./session.ts"
import { type AttemptedDelivery, toastOutcome } from "./toastOutcome.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { outcomeWords } from "./words.ts"

const lastWords = ({ attempts }: DeliverySummary): string => {
  const last = attempts.at(-1)
  return last === undefined ? "–" : outcomeWords(last)
}

/** Of the deliveries shown: a retry of an older one is not among them. */
const newestAttempt = (deliveries: ReadonlyArray<DeliverySummary>): AttemptSummary | undefined =>
  deliveries
    .flatMap(({ attempts }) => attempts)
    .toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1))[0]

const tookWords = ({ attempts }: DeliverySummary): string => {
  const took = attempts.at(-1)?.durationMs ?? null
  return took === null ? "–" : millis(took)
}

const Deliveries = ({ deliveries }: { readonly deliveries: ReadonlyArray<DeliverySummary> }) => {
  const href = useHref()
  return (
    <Table
      class="deliveries"
      rows={deliveries}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Event",
          cell: ({ id, refCode, type }) => (
            <a class="row-link" href={href("webhooks", id)}>
              <span class="mono">{type}</span>
              {refCode === null ? null : <span class="soft"> {refCode}</span>}
            </a>
          )
        },
        { name: "Status", cell: ({ status }) => <StatusBadge.Delivery status={status} /> },
        { name: "Attempts", class: "number", cell: ({ attempts }) => attempts.length },
        { name: "Last response", cell: lastWords },
        { name: "Duration", class: "number soft", cell: tookWords },
        { name: "Created", class: "soft", cell: ({ createdAt }) => <Time at={createdAt} /> }
      ]}
    />
  )
}

export const Webhooks = () => {
  const { api, place } = useSession()
  const href = useHref()
  const startingAfter = place.query.get("startingAfter") ?? ""
  const page = useMerchantPage<WebhooksPage>(
    `/webhooks${startingAfter === "" ? "" : `?startingAfter=${encodeURIComponent(startingAfter)}`}`
  )
  const [secret, setSecret] = useState<string>()
  const register = useAction(async (url: string) => {
    const made = await call<EndpointWithSecret>("POST", `${api}/webhook-endpoint`, { url })
    setSecret(made.secret)
    await page.reload()
  })
  const sendTest = useAction(async () => {
    const { delivery } = await call<AttemptedDelivery>("POST", `${api}/webhook-endpoint/test`)
    toastOutcome("Test event", delivery)
    await page.reload()
  })
  const sendUnsent = useAction(async () => {
    const { count } = await call<{ readonly count: number }>("POST", `${api}/webhooks/unsent`)
    toast(count === 1 ? "1 event is being sent" : `${count} events are being sent`)
    await page.reload()
  })
  const last = page.data?.deliveries.at(-1)?.id
  return (
    <>
      <div class="head">
        <h1>Webhooks</h1>
        <a class="button plain" href={href("webhooks", "verify")}>
          Verify a signature
        </a>
      </div>
      <Loaded page={page}>
        {({ endpoint, deliveries, hasMore, retryDelays, unsent }) => (
          <div class="stack large">
            {endpoint === null ? (
              <Card title="Endpoint">
                <EndpointForm
                  label="Your endpoint's URL"
                  action="Register endpoint"
                  hint="A public https URL. It receives every settlement event of this environment."
                  run={register}
                />
              </Card>
            ) : (
              <EndpointCard
                endpoint={endpoint}
                lastAttempt={startingAfter === "" ? newestAttempt(deliveries) : undefined}
                sendTest={sendTest}
                reload={page.reload}
                onSecret={setSecret}
              />
            )}
            {unsent === 0 ? null : (
              <Card title="Settled payments without a webhook">
                <p>
                  {unsent === 1 ? "1 payment" : `${unsent === 1_000 ? "1,000 or more" : unsent} payments`}{" "}
                  settled while no endpoint was registered.{" "}
                  {endpoint === null
                    ? "Register an endpoint to send their events."
                    : "Send their events if your shop does not know of them. Each event is sent once."}
                </p>
                <Problem error={sendUnsent.error} />
                {endpoint === null ? null : (
                  <May roles={integrationRoles}>
                    <div class="actions start">
                      <Button busy={sendUnsent.busy} onClick={() => void sendUnsent.run()}>
                        Send them
                      </Button>
                    </div>
                  </May>
                )}
              </Card>
            )}
            <Card title="Deliveries" flush>
              {deliveries.length === 0 ? (
                <Empty icon="webhooks" title="No deliveries yet">
                  <p>
                    The service sends an event for each settlement to your endpoint. Until the endpoint
                    responds with 2xx, a delivery makes up to {attemptsInWords(retryDelays)}.
                  </p>
                </Empty>
              ) : (
                <Deliveries deliveries={deliveries} />
              )}
            </Card>
            <nav class="paging" aria-label="Pages of deliveries">
              {startingAfter === "" ? null : (
                <a class="button plain" href={href("webhooks")}>
                  Newest
                </a>
              )}
              {hasMore && last !== undefined ? (
                <Button onClick={() => navigate(href("webhooks", undefined, { startingAfter: last }))}>
                  Older
                </Button>
              ) : null}
            </nav>
          </div>
        )}
      </Loaded>
      {secret === undefined ? null : (
        <ShownOnce key="secret" title="Store the signing secret now" onClose={() => setSecret(undefined)}>
          <p>
            It is <strong>shown only once</strong>. Your server verifies each delivery's signature with it.
          </p>
          <Secret value={secret} what="the signing secret" />
        </ShownOnce>
      )}
    </>
  )
}
