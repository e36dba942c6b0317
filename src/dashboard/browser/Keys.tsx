// API keys: created, renamed, rotated and revoked. A secret key is shown only once.
import { useState } from "preact/hooks"
import { integrationRoles, ownerRoles } from "../../domain/roleSets.ts"
import type { IssuedKeyView, KeysPage, KeyView } from "../api/keys/Api.ts"
import { call, useAction } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Choice, Choices } from "./components/Choices.tsx"
import { Code, Secret } from "./components/Copy.tsx"
import { Confirm, Dialog, ShownOnce } from "./components/Dialog.tsx"
import { Empty } from "./components/Empty.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Table } from "./components/Table.tsx"
import { Ago, Time } from "./components/Time.tsx"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

type Open =
  | { readonly tag: "create" }
  | { readonly tag: "rename" | "rotate" | "revoke"; readonly key: KeyView }
  | { readonly tag: "issued"; readonly issued: IssuedKeyView; readonly rotated: boolean }

const nameOf = ({ prefix, lastFour }: KeyView) => `${prefix}…${lastFour}`

const permissionWords = (key: KeyView) =>
  key.kind === "publishable"
    ? "Publishable"
    : key.permission === "manage"
      ? "Secret, full access"
      : "Secret, read-only"

const Actions = (props: {
  readonly apiKey: KeyView
  readonly mayChange: boolean
  readonly onAct: (open: Open) => void
}) => {
  const { apiKey, onAct } = props
  if (apiKey.revokedAt !== null) return <Badge tone="neutral">Revoked</Badge>
  return props.mayChange ? (
    <span class="row-actions">
      <Button label={`Rename ${nameOf(apiKey)}`} onClick={() => onAct({ tag: "rename", key: apiKey })}>
        Rename
      </Button>
      <Button label={`Rotate ${nameOf(apiKey)}`} onClick={() => onAct({ tag: "rotate", key: apiKey })}>
        Rotate
      </Button>
      <Button
        kind="danger"
        label={`Revoke ${nameOf(apiKey)}`}
        onClick={() => onAct({ tag: "revoke", key: apiKey })}
      >
        Revoke
      </Button>
    </span>
  ) : null
}

export const Keys = () => {
  const { api, place } = useSession()
  const page = useMerchantPage<KeysPage>("/keys", { everyMillis: 5_000 })
  const mayChange = useMay()(integrationRoles, ownerRoles)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)

  const create = useAction(async ({ kind, name = "" }: Fields) => {
    const body = {
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      kind: kind === "publishable" ? "publishable" : "secret",
      permission: kind === "secret" ? "manage" : "read"
    }
    setOpen({ tag: "issued", issued: await call<IssuedKeyView>("POST", `${api}/keys`, body), rotated: false })
    await page.reload()
  }, open)
  const rotate = useAction(async (key: KeyView) => {
    const issued = await call<IssuedKeyView>("POST", `${api}/keys/${key.id}/rotate`)
    setOpen({ tag: "issued", issued, rotated: true })
    await page.reload()
  }, open)
  const rename = useAction(async (key: KeyView, name: string) => {
    await call<void>("PUT", `${api}/keys/${key.id}/name`, { name: name === "" ? null : name })
    close()
    await page.reload()
  }, open)
  const revoke = useAction(async (key: KeyView) => {
    await call<void>("POST", `${api}/keys/${key.id}/revoke`)
    close()
    toast(`Revoked ${nameOf(key)}`)
    await page.reload()
  }, open)

  return (
    <>
      <div class="head">
        <h1>API keys</h1>
        {mayChange ? (
          <Button kind="primary" icon="plus" onClick={() => setOpen({ tag: "create" })}>
            Create key
          </Button>
        ) : null}
      </div>
      <Card flush>
        <Loaded page={page}>
          {({ keys }) =>
            keys.length === 0 ? (
              <Empty icon="keys" title={`No ${place.env} keys`}>
                <p>A secret key creates payment intents; a publishable key opens the checkout.</p>
              </Empty>
            ) : (
              <Table
                rows={keys}
                keyOf={({ id }) => id}
                classOf={({ revokedAt }) => (revokedAt === null ? undefined : "revoked")}
                columns={[
                  {
                    name: "Key",
                    cell: (apiKey) => (
                      <>
                        {apiKey.name === null ? null : <span class="break">{apiKey.name} </span>}
                        {apiKey.publicKey === null ? (
                          <span class="mono soft">{nameOf(apiKey)}</span>
                        ) : (
                          <Code text={apiKey.publicKey} shown={nameOf(apiKey)} what="the publishable key" />
                        )}
                      </>
                    )
                  },
                  { name: "Kind", cell: permissionWords },
                  {
                    name: "Last used",
                    class: "soft",
                    cell: ({ lastUsedAt }) => (lastUsedAt === null ? "Never" : <Ago at={lastUsedAt} />)
                  },
                  { name: "Created", class: "soft", cell: ({ createdAt }) => <Time at={createdAt} /> },
                  {
                    name: "Actions",
                    hidden: true,
                    class: "end",
                    cell: (apiKey) => <Actions apiKey={apiKey} mayChange={mayChange} onAct={setOpen} />
                  }
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      {open?.tag === "create" ? (
        <Dialog key="create" title={`Create a ${place.env} key`} onClose={close}>
          <Form submit="Create key" action={create} onCancel={close}>
            <Choices legend="Permissions">
              <Choice
                name="kind"
                value="secret"
                defaultChecked
                label="Secret, full access"
                about="For your server: creates payment intents and refunds, and manages webhooks."
              />
              <Choice
                name="kind"
                value="read"
                label="Secret, read-only"
                about="For reports: reads what a full-access key can read, and changes nothing."
              />
              <Choice
                name="kind"
                value="publishable"
                label="Publishable"
                about="For the buyer's browser: acts in a checkout only."
              />
            </Choices>
            <Field
              label="Name (optional)"
              name="name"
              placeholder="Web server"
              hint="Helps you tell keys apart."
            />
          </Form>
        </Dialog>
      ) : null}
      {open?.tag === "issued" ? (
        <ShownOnce key="issued" title="Store this key now" onClose={close}>
          <p>
            It is <strong>shown only once</strong>.{open.rotated ? " The old key no longer works." : ""}
          </p>
          <Secret value={open.issued.key} what="the key" />
        </ShownOnce>
      ) : null}
      {open?.tag === "rename" ? (
        <Dialog key="rename" title={`Rename ${nameOf(open.key)}`} onClose={close}>
          <Form
            submit="Rename"
            onCancel={close}
            action={{ ...rename, run: ({ name = "" }) => rename.run(open.key, name.trim()) }}
          >
            <Field label="Name" name="name" value={open.key.name ?? ""} />
          </Form>
        </Dialog>
      ) : null}
      {open?.tag === "rotate" ? (
        <Confirm
          key="rotate"
          title={`Rotate ${nameOf(open.key)}?`}
          action="Rotate key"
          danger
          busy={rotate.busy}
          error={rotate.error}
          onConfirm={() => void rotate.run(open.key)}
          onClose={close}
        >
          <p>
            You get a new key of the same kind. <strong>The old key stops working immediately</strong>:
            requests with the old key fail until you deploy the new key.
          </p>
        </Confirm>
      ) : null}
      {open?.tag === "revoke" ? (
        <Confirm
          key="revoke"
          title={`Revoke ${nameOf(open.key)}?`}
          action="Revoke key"
          danger
          busy={revoke.busy}
          error={revoke.error}
          onConfirm={() => void revoke.run(open.key)}
          onClose={close}
        >
          <p>Requests with this key fail immediately. You cannot undo this.</p>
        </Confirm>
      ) : null}
    </>
  )
}
