// What the member is told by mail, and where the merchant's alerts are posted to.
import { useState } from "preact/hooks"
import { developers } from "../../domain/roleSets.ts"
import type { NewAlertHook, TellingPage } from "../api/telling/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Secret } from "./components/Copy.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Ago } from "./components/Time.tsx"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

interface Part {
  readonly data: TellingPage
  readonly reload: () => Promise<void>
}

const Choice = ({ data, reload }: Part) => {
  const { api } = useSession()
  const save = useAction(async ({ alerts, weekly }: Readonly<Record<string, string>>) => {
    await call("PUT", `${api}/telling`, { alerts, weekly: weekly !== undefined })
    toast("Saved")
    await reload()
  })
  const radio = (value: TellingPage["choice"]["alerts"], label: string) => (
    <label>
      <input type="radio" name="alerts" value={value} defaultChecked={data.choice.alerts === value} />
      <span>{label}</span>
    </label>
  )
  return (
    <Card title="What you are told by mail">
      {data.hasMail ? null : (
        <p class="hint">
          This service sends no mail: its operator has set no mail server. Your choice is kept.
        </p>
      )}
      <form class="stack" onSubmit={(event) => void save.run(fieldsOf(event))}>
        <fieldset class="choices">
          <legend>Alerts</legend>
          {radio("all", "Of test and live")}
          {radio("live", "Of live only")}
          {radio("none", "None")}
        </fieldset>
        <label class="check">
          <input type="checkbox" name="weekly" defaultChecked={data.choice.weekly} /> A summary of the week,
          on Mondays
        </label>
        <p class="hint">Changes of addresses, keys and members are always told.</p>
        <Problem error={save.error} />
        <div class="actions start">
          <Button submit busy={save.busy}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  )
}

const Hooks = ({ data, reload }: Part) => {
  const { api, place } = useSession()
  const mayChange = useMay()(developers)
  const [adding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  const add = useAction(async ({ shape, url = "" }: Readonly<Record<string, string>>) => {
    const made = await call<NewAlertHook>("POST", `${api}/telling/hooks`, { shape, url: url.trim() })
    setAdding(false)
    if (made.secret !== null) setSecret(made.secret)
    await reload()
  }, adding)
  const remove = useAction(async (id: string) => {
    await call("DELETE", `${api}/telling/hooks/${id}`)
    await reload()
  })
  return (
    <Card
      title={`Alerts are posted to, ${place.env}`}
      action={mayChange ? <Button onClick={() => setAdding(true)}>Add</Button> : null}
    >
      {data.hooks.length === 0 ? (
        <p class="soft">Have alerts posted to a chat such as Slack, or to an address of your own.</p>
      ) : (
        <ul class="list">
          {data.hooks.map(({ error, host, id, lastSentAt, shape }) => (
            <li key={id}>
              <span class="person">
                <span class="break">{host}</span>
                <small class={error === null ? "soft" : "hint bad"}>
                  {shape === "slack" ? "Slack" : "Signed JSON"},{" "}
                  {error !== null ? (
                    `last failed: ${error}`
                  ) : lastSentAt === null ? (
                    "nothing posted yet"
                  ) : (
                    <Ago at={lastSentAt} />
                  )}
                </small>
              </span>
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
            </li>
          ))}
        </ul>
      )}
      <Problem error={remove.error} />
      {adding ? (
        <Dialog key="hook" title="Post alerts to" onClose={() => setAdding(false)}>
          <form class="stack" onSubmit={(event) => void add.run(fieldsOf(event))}>
            <fieldset class="choices">
              <legend>Shape</legend>
              <label>
                <input type="radio" name="shape" value="slack" defaultChecked />
                <span>
                  <strong>Slack</strong>
                  <small>An incoming webhook of Slack, Mattermost or Discord (with /slack).</small>
                </span>
              </label>
              <label>
                <input type="radio" name="shape" value="plain" />
                <span>
                  <strong>Signed JSON</strong>
                  <small>Signed as webhook deliveries are, with a secret of its own.</small>
                </span>
              </label>
            </fieldset>
            <Field
              label="Address"
              name="url"
              required
              mono
              placeholder="https://…"
              error={add.error?.of("url")}
            />
            <Problem error={add.error} fields={["url"]} />
            <div class="actions">
              <Button onClick={() => setAdding(false)}>Cancel</Button>
              <Button kind="primary" submit busy={add.busy}>
                Add
              </Button>
            </div>
          </form>
        </Dialog>
      ) : null}
      {secret === undefined ? null : (
        <Dialog key="secret" title="Store this secret now" onClose={() => setSecret(undefined)}>
          <div class="stack">
            <p>
              Posts are signed with it. It is <strong>shown this once</strong>.
            </p>
            <Secret value={secret} what="the secret" />
            <div class="actions">
              <Button kind="primary" onClick={() => setSecret(undefined)}>
                I have stored it
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </Card>
  )
}

export const TellingCard = () => {
  const { api } = useSession()
  const page = usePage<TellingPage>(`${api}/telling`, 10_000)
  return (
    <Loaded page={page}>
      {(data) => (
        <>
          <Choice data={data} reload={page.reload} />
          <Hooks data={data} reload={page.reload} />
        </>
      )}
    </Loaded>
  )
}
