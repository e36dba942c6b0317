// The user's passkeys, authenticator app and sessions.
import { useState } from "preact/hooks"
import type { NewAuthenticator, RecoveryCodes, SecurityPage } from "../api/accounts/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { CodeBlock } from "./components/CodeBlock.tsx"
import { Code } from "./components/Copy.tsx"
import { Dialog, ShownOnce } from "./components/Dialog.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Item } from "./components/Item.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Ago, Time } from "./components/Time.tsx"
import { addPasskey, hasPasskeys } from "./passkey.ts"
import { QrCode } from "./QrCode.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

interface Part {
  readonly data: SecurityPage
  readonly reload: () => Promise<void>
}

const Passkeys = ({ data, reload }: Part) => {
  const [adding, setAdding] = useState(false)
  const add = useAction(async ({ name = "" }: Fields) => {
    await addPasskey(name.trim())
    setAdding(false)
    toast("The passkey was added")
    await reload()
  }, adding)
  const remove = useAction(async (id: string) => {
    await call("DELETE", `/passkeys/${id}`)
    toast("The passkey was removed")
    await reload()
  })
  return (
    <Card
      title="Passkeys"
      action={hasPasskeys ? <Button onClick={() => setAdding(true)}>Add a passkey</Button> : null}
    >
      {data.passkeys.length === 0 ? (
        <p class="soft">
          A passkey signs you in with your fingerprint, face or PIN, and confirms sensitive changes. It cannot
          be phished.
        </p>
      ) : (
        <ul class="list">
          {data.passkeys.map(({ createdAt, id, lastUsedAt, name }) => (
            <Item
              key={id}
              title={name}
              about={
                <>
                  added <Time at={createdAt} />,{" "}
                  {lastUsedAt === null ? (
                    "not used yet"
                  ) : (
                    <>
                      last used <Ago at={lastUsedAt} />
                    </>
                  )}
                </>
              }
            >
              <Button
                kind="danger"
                label={`Remove the passkey ${name}`}
                busy={remove.busy}
                onClick={() => void remove.run(id)}
              >
                Remove
              </Button>
            </Item>
          ))}
        </ul>
      )}
      <Problem error={remove.error} />
      {adding ? (
        <Dialog key="passkey" title="Add a passkey" onClose={() => setAdding(false)}>
          <Form submit="Continue" action={add} onCancel={() => setAdding(false)}>
            <Field
              label="Name"
              name="name"
              required
              value="This device"
              hint="Helps you tell passkeys apart."
            />
          </Form>
        </Dialog>
      ) : null}
    </Card>
  )
}

const Authenticator = ({ data, reload }: Part) => {
  const { refresh } = useSession()
  const [setUp, setSetUp] = useState<NewAuthenticator>()
  const [codes, setCodes] = useState<ReadonlyArray<string>>()
  const begin = useAction(async () => {
    setSetUp(await call<NewAuthenticator>("POST", "/authenticator"))
  })
  const confirm = useAction(async ({ code = "" }: Fields) => {
    setCodes((await call<RecoveryCodes>("POST", "/authenticator/confirm", { code: code.trim() })).codes)
    setSetUp(undefined)
    await Promise.all([reload(), refresh()])
  }, setUp)
  const renew = useAction(async () => {
    setCodes((await call<RecoveryCodes>("POST", "/recovery-codes")).codes)
    await reload()
  })
  const remove = useAction(async () => {
    await call("DELETE", "/authenticator")
    toast("The authenticator app was removed")
    await Promise.all([reload(), refresh()])
  })
  return (
    <Card title="Authenticator app">
      {data.hasAuthenticator ? (
        <>
          <p>
            <Badge tone="good">On</Badge> You sign in with your password and a code.
          </p>
          <p class={data.recoveryCodesLeft < 3 ? "hint bad" : "hint"}>
            {data.recoveryCodesLeft} of 10 recovery codes left.
          </p>
          <div class="actions start">
            <Button busy={renew.busy} onClick={() => void renew.run()}>
              New recovery codes
            </Button>
            <Button kind="danger" busy={remove.busy} onClick={() => void remove.run()}>
              Remove
            </Button>
          </div>
        </>
      ) : (
        <>
          <p class="soft">An app on your phone generates codes that you enter with your password.</p>
          <div class="actions start">
            <Button busy={begin.busy} onClick={() => void begin.run()}>
              Set up
            </Button>
          </div>
        </>
      )}
      <Problem error={begin.error ?? renew.error ?? remove.error} />
      {setUp === undefined ? null : (
        <Dialog key="authenticator" title="Set up an authenticator app" onClose={() => setSetUp(undefined)}>
          <Form submit="Turn on" action={confirm} onCancel={() => setSetUp(undefined)}>
            <p>Scan this with the app, or type the secret into it. Then enter the code that it shows.</p>
            <QrCode text={setUp.uri} label="For the authenticator app" />
            <Code text={setUp.secret} what="the secret" />
            <Field label="Code" name="code" required mono autoComplete="one-time-code" />
          </Form>
        </Dialog>
      )}
      {codes === undefined ? null : (
        <ShownOnce
          key="codes"
          title="Store your recovery codes"
          done="I have stored the codes"
          onClose={() => setCodes(undefined)}
        >
          <p>
            Each code signs you in once if you lose the app. They are <strong>shown only once</strong>.
          </p>
          <CodeBlock text={codes.join("\n")} what="the recovery codes" />
        </ShownOnce>
      )}
    </Card>
  )
}

const Sessions = ({ data, reload }: Part) => {
  const end = useAction(async (id: string) => {
    await call("DELETE", `/sessions/${id}`)
    await reload()
  })
  const endOthers = useAction(async () => {
    await call("POST", "/sessions/end-others")
    toast("Signed out everywhere else")
    await reload()
  })
  return (
    <Card title="Where you are signed in">
      <ul class="list">
        {data.sessions.map(({ address, browser, current, id, lastSeenAt }) => (
          <Item
            key={id}
            title={
              <>
                {browser} {current ? <Badge tone="good">This session</Badge> : null}
              </>
            }
            about={
              <>
                {address ?? "Unknown address"}, last seen <Ago at={lastSeenAt} />
              </>
            }
          >
            {current ? null : (
              <Button
                kind="danger"
                label={`End the session of ${browser}`}
                busy={end.busy}
                onClick={() => void end.run(id)}
              >
                End
              </Button>
            )}
          </Item>
        ))}
      </ul>
      <Problem error={end.error ?? endOthers.error} />
      {data.sessions.length < 2 ? null : (
        <div class="actions start">
          <Button kind="danger" busy={endOthers.busy} onClick={() => void endOthers.run()}>
            End all others
          </Button>
        </div>
      )}
    </Card>
  )
}

export const SecurityCard = () => {
  const page = usePage<SecurityPage>("/security", 10_000)
  return (
    <Loaded page={page}>
      {(data) => (
        <>
          <Passkeys data={data} reload={page.reload} />
          <Authenticator data={data} reload={page.reload} />
          <Sessions data={data} reload={page.reload} />
        </>
      )}
    </Loaded>
  )
}
