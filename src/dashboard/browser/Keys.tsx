// API keys: made, rotated and revoked; each shown once.
import { useState } from "preact/hooks"
import { developers, owners } from "../../domain/roleSets.ts"
import type { IssuedKeyView, KeysPage, KeyView } from "../api/keys/Api.ts"
import { call, useAction } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Code, Secret } from "./components/Copy.tsx"
import { Confirm, Dialog } from "./components/Dialog.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Empty, Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
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
  readonly one: KeyView
  readonly mayChange: boolean
  readonly onAct: (open: Open) => void
}) => {
  const { one, onAct } = props
  if (one.revokedAt !== null) return <Badge tone="neutral">Revoked</Badge>
  return props.mayChange ? (
    <span class="row-actions">
      <Button label={`Rename ${nameOf(one)}`} onClick={() => onAct({ tag: "rename", key: one })}>
        Rename
      </Button>
      <Button label={`Rotate ${nameOf(one)}`} onClick={() => onAct({ tag: "rotate", key: one })}>
        Rotate
      </Button>
      <Button
        kind="danger"
        label={`Revoke ${nameOf(one)}`}
        onClick={() => onAct({ tag: "revoke", key: one })}
      >
        Revoke
      </Button>
    </span>
  ) : null
}

export const Keys = () => {
  const { api, place } = useSession()
  const page = useMerchantPage<KeysPage>("/keys", { everyMillis: 5_000 })
  const mayChange = useMay()(developers, owners)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)

  const create = useAction(async ({ kind, name = "" }: Readonly<Record<string, string>>) => {
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
                    cell: (one) => (
                      <>
                        {one.name === null ? null : <span class="break">{one.name}</span>}{" "}
                        {one.publicKey === null ? (
                          <span class="mono soft">{nameOf(one)}</span>
                        ) : (
                          <Code text={one.publicKey} shown={nameOf(one)} what="the publishable key" />
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
                    cell: (one) => <Actions one={one} mayChange={mayChange} onAct={setOpen} />
                  }
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      {open?.tag === "create" ? (
        <Dialog key="create" title={`Create a ${place.env} key`} onClose={close}>
          <form class="stack" onSubmit={(event) => void create.run(fieldsOf(event))}>
            <fieldset class="choices">
              <legend>Permissions</legend>
              <label>
                <input type="radio" name="kind" value="secret" defaultChecked />
                <span>
                  <strong>Secret, full access</strong>
                  <small>For your server: creates intents, manages webhooks.</small>
                </span>
              </label>
              <label>
                <input type="radio" name="kind" value="read" />
                <span>
                  <strong>Secret, read-only</strong>
                  <small>For reports: reads payments and the endpoint.</small>
                </span>
              </label>
              <label>
                <input type="radio" name="kind" value="publishable" />
                <span>
                  <strong>Publishable</strong>
                  <small>For the buyer's browser: acts in a checkout only.</small>
                </span>
              </label>
            </fieldset>
            <Field
              label="Name (optional)"
              name="name"
              placeholder="Web server"
              hint="What it is for: keys are told apart by it after a rotation."
              error={create.error?.of("name")}
            />
            <Problem error={create.error} fields={["name"]} />
            <div class="actions">
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" submit busy={create.busy}>
                Create key
              </Button>
            </div>
          </form>
        </Dialog>
      ) : null}
      {open?.tag === "issued" ? (
        <Dialog key="issued" title="Store this key now" onClose={close}>
          <div class="stack">
            <p>
              It is <strong>shown this once</strong>.
              {open.rotated ? " The old key is refused from now on." : ""}
            </p>
            <Secret value={open.issued.key} what="the key" />
            <div class="actions">
              <Button kind="primary" onClick={close}>
                I have stored it
              </Button>
            </div>
          </div>
        </Dialog>
      ) : null}
      {open?.tag === "rename" ? (
        <Dialog key="rename" title={`Rename ${nameOf(open.key)}`} onClose={close}>
          <form
            class="stack"
            onSubmit={(event) => void rename.run(open.key, (fieldsOf(event)["name"] ?? "").trim())}
          >
            <Field label="Name" name="name" value={open.key.name ?? ""} error={rename.error?.of("name")} />
            <Problem error={rename.error} fields={["name"]} />
            <div class="actions">
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" submit busy={rename.busy}>
                Rename
              </Button>
            </div>
          </form>
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
            whatever still uses it is refused until you put the new one in its place.
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
          <p>Requests with this key are refused immediately. This cannot be undone.</p>
        </Confirm>
      ) : null}
    </>
  )
}
