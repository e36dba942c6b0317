// The registered endpoint and its actions.

import { useState } from "preact/hooks"
import { integrationRoles } from "../../domain/roleSets.ts"
import type { EndpointWithSecret } from "../../webhooks/Api.ts"
import type { AttemptSummary, WebhooksPage } from "../api/webhooks/Api.ts"
import { type Action, call, useAction } from "./api.ts"
import { Badge, type Tone } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Confirm, Dialog } from "./components/Dialog.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Field } from "./components/Field.tsx"
import { Form } from "./components/Form.tsx"
import { Problem } from "./components/Problem.tsx"
import { Ago } from "./components/Time.tsx"
import { May } from "./May.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { outcomeWords } from "./words.ts"

type Endpoint = NonNullable<WebhooksPage["endpoint"]>

export const EndpointForm = (props: {
  readonly label: string
  readonly action: string
  readonly hint: string
  readonly value?: string
  readonly run: Action<[string]>
  readonly onCancel?: () => void
}) => (
  <Form
    submit={props.action}
    primary
    action={{ ...props.run, run: ({ url = "" }) => props.run.run(url) }}
    {...(props.onCancel === undefined ? {} : { onCancel: props.onCancel })}
  >
    <Field
      label={props.label}
      name="url"
      required
      mono
      placeholder="https://shop.example.com/webhooks/quittance"
      hint={props.hint}
      value={props.value ?? ""}
    />
  </Form>
)

const healthTones: Readonly<Record<string, Tone>> = { healthy: "good", failing: "bad", unverified: "neutral" }
const healthWords: Readonly<Record<string, string>> = {
  healthy: "Healthy",
  failing: "Failing",
  unverified: "No response yet"
}

export const EndpointCard = (props: {
  readonly endpoint: Endpoint
  readonly lastAttempt: AttemptSummary | undefined
  readonly sendTest: Action<[]>
  readonly reload: () => Promise<void>
  readonly onSecret: (secret: string) => void
}) => {
  const { endpoint, lastAttempt } = props
  const { api, place } = useSession()
  const [open, setOpen] = useState<"change" | "secret" | "delete">()
  const close = () => setOpen(undefined)
  const done = async (text: string) => {
    close()
    toast(text)
    await props.reload()
  }
  const change = useAction(async (url: string) => {
    await call("PATCH", `${api}/webhook-endpoint`, { url })
    await done("The endpoint's URL was changed")
  }, open)
  const remove = useAction(async () => {
    await call("DELETE", `${api}/webhook-endpoint`)
    await done("The endpoint was deleted")
  }, open)
  const regenerate = useAction(async () => {
    const { secret } = await call<EndpointWithSecret>("POST", `${api}/webhook-endpoint/secret`)
    await done("The secret was regenerated")
    props.onSecret(secret)
  }, open)
  return (
    <Card
      title="Endpoint"
      action={<Badge tone={healthTones[endpoint.health] ?? "neutral"}>{healthWords[endpoint.health]}</Badge>}
    >
      <p class="mono break endpoint-url">{endpoint.url}</p>
      <Facts inline>
        <Fact name="Signing secret" mono>
          whsec_…{endpoint.secretLast4}
        </Fact>
        <Fact name="Last delivered">
          {endpoint.lastDeliveredAt === null ? "Never" : <Ago at={endpoint.lastDeliveredAt} />}
        </Fact>
        {endpoint.health !== "failing" || lastAttempt === undefined ? null : (
          <Fact name="Last attempt">
            {outcomeWords(lastAttempt)}, <Ago at={lastAttempt.startedAt} />
          </Fact>
        )}
      </Facts>
      <Problem error={props.sendTest.error} />
      <May roles={integrationRoles}>
        <div class="actions start">
          <Button kind="primary" busy={props.sendTest.busy} onClick={() => void props.sendTest.run()}>
            Send test event
          </Button>
          <Button onClick={() => setOpen("change")}>Change URL</Button>
          <Button onClick={() => setOpen("secret")}>Regenerate secret</Button>
          <Button kind="danger" onClick={() => setOpen("delete")}>
            Delete
          </Button>
        </div>
      </May>
      {open === "change" ? (
        <Dialog key="change" title="Change the URL" onClose={close}>
          <EndpointForm
            label="New URL"
            action="Change URL"
            hint="Pending deliveries go to the new URL. The secret does not change."
            value={endpoint.url}
            run={change}
            onCancel={close}
          />
        </Dialog>
      ) : null}
      {open === "secret" ? (
        <Confirm
          key="secret"
          title="Regenerate the signing secret?"
          action="Regenerate secret"
          danger
          busy={regenerate.busy}
          error={regenerate.error}
          onConfirm={() => void regenerate.run()}
          onClose={close}
        >
          <p>
            <strong>The old secret stops verifying immediately</strong>; pending deliveries are signed with
            the new one.
          </p>
        </Confirm>
      ) : null}
      {open === "delete" ? (
        <Confirm
          key="delete"
          title={`Delete the ${place.env} endpoint?`}
          action="Delete endpoint"
          danger
          busy={remove.busy}
          error={remove.error}
          onConfirm={() => void remove.run()}
          onClose={close}
        >
          <p>
            No events are sent until you register an endpoint. If you do so within a day, it receives the
            deliveries that are pending now. You can send all other events under Webhooks.
          </p>
        </Confirm>
      ) : null}
    </Card>
  )
}
