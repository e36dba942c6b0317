// The environment's webhook endpoint and its deliveries.
import { useState } from "preact/hooks"
import { attemptsInWords } from "../../domain/attemptsInWords.ts"
import type { EndpointWithSecret } from "../../webhooks/Api.ts"
import type { DeliverySummary, WebhooksPage } from "../api/webhooks/Api.ts"
import { call, useAction } from "./api.ts"
import { EndpointCard, EndpointForm } from "./EndpointCard.tsx"
import { millis } from "./format.ts"
import { Button } from "./parts/Button.tsx"
import { Card } from "./parts/Card.tsx"
import { Secret } from "./parts/Copy.tsx"
import { Dialog } from "./parts/Dialog.tsx"
import { Empty, Loaded } from "./parts/Loaded.tsx"
import { Time } from "./parts/Time.tsx"
import { navigate } from "./router.ts"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { failureWords } from "./words.ts"

const lastWords = ({ attempts }: DeliverySummary): string => {
  const last = attempts.at(-1)
  if (last === undefined) return "–"
  if (last.responseStatus !== null) return `HTTP ${last.responseStatus}`
  return last.failure === null ? "is being sent" : failureWords[last.failure]
}

const Deliveries = ({ deliveries }: { readonly deliveries: ReadonlyArray<DeliverySummary> }) => {
  const href = useHref()
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Attempts
          </th>
          <th scope="col">Last answer</th>
          <th scope="col" class="number">
            Took
          </th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((one) => {
          const took = one.attempts.at(-1)?.durationMs ?? null
          return (
            <tr key={one.id}>
              <td data-label="Event">
                <a class="row-link" href={href("webhooks", one.id)}>
                  <span class="mono">{one.type}</span>
                  {one.refCode === null ? null : <span class="soft"> {one.refCode}</span>}
                </a>
              </td>
              <td data-label="Status">
                <StatusBadge.Delivery status={one.status} />
              </td>
              <td data-label="Attempts" class="number">
                {one.attempts.length}
              </td>
              <td data-label="Last answer">{lastWords(one)}</td>
              <td data-label="Took" class="number soft">
                {took === null ? "–" : millis(took)}
              </td>
              <td data-label="Created" class="soft">
                <Time at={one.createdAt} />
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
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
    await call("POST", `${api}/webhook-endpoint/test`)
    toast("Sent a test event")
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
        {({ endpoint, deliveries, hasMore, retryDelays }) => (
          <div class="stack large">
            {endpoint === null ? (
              <Card title="Endpoint">
                <EndpointForm
                  label="Your receiver's URL"
                  action="Register endpoint"
                  hint="A public https URL. It receives every settlement event of this environment."
                  run={register}
                />
              </Card>
            ) : (
              <EndpointCard
                endpoint={endpoint}
                sendTest={sendTest}
                reload={page.reload}
                onSecret={setSecret}
              />
            )}
            <Card title="Deliveries" flush>
              {deliveries.length === 0 ? (
                <Empty icon="webhooks" title="No deliveries yet">
                  <p>
                    Each settlement is sent to your endpoint. Until it answers 2xx, a delivery makes up to{" "}
                    {attemptsInWords(retryDelays)}.
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
        <Dialog key="secret" title="Store the signing secret now" onClose={() => setSecret(undefined)}>
          <div class="stack">
            <p>
              It is <strong>shown this once</strong>. Your receiver verifies each delivery's signature with
              it.
            </p>
            <Secret value={secret} what="the signing secret" />
            <div class="actions">
              <Button kind="primary" onClick={() => setSecret(undefined)}>
                I have stored it
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}
