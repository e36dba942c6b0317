// The member's email notifications, and the merchant's alert webhooks.
import { useState } from "preact/hooks"
import { isTest } from "../../domain/networks.ts"
import { integrationRoles } from "../../domain/roleSets.ts"
import type { NewAlertHook, NotificationPreferences } from "../api/notificationPreferences/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Check, Choice, Choices } from "./components/Choices.tsx"
import { Secret } from "./components/Copy.tsx"
import { Dialog, ShownOnce } from "./components/Dialog.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Item } from "./components/Item.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Ago } from "./components/Time.tsx"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { failureWords } from "./words.ts"

const hookFailureWords = new Map<string, string>(Object.entries(failureWords))

interface Part {
  readonly data: NotificationPreferences
  readonly reload: () => Promise<void>
}

const Emails = ({ data, reload }: Part) => {
  const { api } = useSession()
  const save = useAction(async ({ alerts, weekly }: Fields) => {
    await call("PUT", `${api}/notification-preferences`, { alerts, weekly: weekly !== undefined })
    toast("Saved")
    await reload()
  })
  const radio = (value: NotificationPreferences["choice"]["alerts"], label: string) => (
    <Choice name="alerts" value={value} label={label} defaultChecked={data.choice.alerts === value} />
  )
  return (
    <Card title="Email notifications">
      {data.hasMail ? null : (
        <p class="hint">
          No mail server is configured, so the service sends no email. It stores your choice.
        </p>
      )}
      <Form submit="Save" action={save}>
        <Choices legend="Alerts">
          {radio("all", "Test and live")}
          {radio("live", "Live only")}
          {radio("none", "None")}
        </Choices>
        <Check name="weekly" defaultChecked={data.choice.weekly} label="Weekly summary, on Mondays" />
        <p class="hint">
          {data.hasMail
            ? "You always get an email about changes to addresses, full-access keys and members."
            : "Changes to addresses, keys and members are in the audit log."}
        </p>
      </Form>
    </Card>
  )
}

const Hooks = ({ data, reload }: Part) => {
  const { api, place } = useSession()
  const mayChange = useMay()(integrationRoles)
  const [adding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  const add = useAction(async ({ shape, url = "" }: Fields) => {
    const hook = await call<NewAlertHook>("POST", `${api}/notification-preferences/hooks`, {
      shape,
      url: url.trim()
    })
    setAdding(false)
    if (hook.secret !== null) setSecret(hook.secret)
    await reload()
  }, adding)
  const remove = useAction(async (id: string) => {
    await call("DELETE", `${api}/notification-preferences/hooks/${id}`)
    await reload()
  })
  return (
    <Card
      title={`${isTest(place.env) ? "Test" : "Live"} alert webhooks`}
      action={mayChange ? <Button onClick={() => setAdding(true)}>Add</Button> : null}
    >
      {data.hooks.length === 0 ? (
        <p class="soft">Send alerts to a chat such as Slack, or to your own URL.</p>
      ) : (
        <ul class="list">
          {data.hooks.map(({ error, host, id, lastSentAt, shape }) => (
            <Item
              key={id}
              title={host}
              isBad={error !== null}
              about={
                <>
                  {" "}
                  {shape === "slack" ? "Slack" : "Signed JSON"},{" "}
                  {error !== null ? (
                    `last failed: ${hookFailureWords.get(error) ?? error}`
                  ) : lastSentAt === null ? (
                    "nothing sent yet"
                  ) : (
                    <>
                      last sent <Ago at={lastSentAt} />
                    </>
                  )}
                </>
              }
            >
              {mayChange ? (
                <Button
                  kind="danger"
                  label={`Remove ${host}`}
                  busy={remove.busy}
                  onClick={() => void remove.run(id)}
                >
                  Remove
                </Button>
              ) : null}
            </Item>
          ))}
        </ul>
      )}
      <Problem error={remove.error} />
      {adding ? (
        <Dialog key="hook" title="Add an alert webhook" onClose={() => setAdding(false)}>
          <Form submit="Add" action={add} onCancel={() => setAdding(false)}>
            <Choices legend="Format">
              <Choice
                name="shape"
                value="slack"
                defaultChecked
                label="Slack"
                about="An incoming webhook of Slack, Mattermost or Discord (with /slack)."
              />
              <Choice
                name="shape"
                value="plain"
                label="Signed JSON"
                about="Signed like webhook deliveries, with a separate secret."
              />
            </Choices>
            <Field label="URL" name="url" required mono placeholder="https://…" />
          </Form>
        </Dialog>
      ) : null}
      {secret === undefined ? null : (
        <ShownOnce key="secret" title="Store this secret now" onClose={() => setSecret(undefined)}>
          <p>
            The service signs alert webhooks with it. It is <strong>shown only once</strong>.
          </p>
          <Secret value={secret} what="the secret" />
        </ShownOnce>
      )}
    </Card>
  )
}

export const NotificationsCard = () => {
  const { api } = useSession()
  const page = usePage<NotificationPreferences>(`${api}/notification-preferences`, 10_000)
  return (
    <Loaded page={page}>
      {(data) => (
        <>
          <Emails data={data} reload={page.reload} />
          <Hooks data={data} reload={page.reload} />
        </>
      )}
    </Loaded>
  )
}
