// The merchant's receiving address, and its pending change.

import { useState } from "preact/hooks"
import { isTest } from "../../domain/networks.ts"
import { integrationRoles, ownerRoles } from "../../domain/roleSets.ts"
import type { CheckedAddress, ReceiverChangeView, SettingsPage } from "../api/settings/Api.ts"
import { ApiError } from "./ApiError.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { CodeBlock } from "./components/CodeBlock.tsx"
import { Code } from "./components/Copy.tsx"
import { Confirm, Dialog } from "./components/Dialog.tsx"
import { Explorer } from "./components/External.tsx"
import { Field } from "./components/Field.tsx"
import { Form } from "./components/Form.tsx"
import { Problem } from "./components/Problem.tsx"
import { Time } from "./components/Time.tsx"
import { shortTime } from "./format.ts"
import { useMay } from "./roles.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

export const ReceiverCard = ({
  data,
  reload
}: {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}) => {
  const { api, place } = useSession()
  const may = useMay()
  const [next, setNext] = useState<string>()
  /** The text that the owner of another merchant's address signs, and whether a signature was tried. */
  const [proof, setProof] = useState<{ readonly text: string; readonly tried: boolean }>()
  const close = () => {
    setNext(undefined)
    setProof(undefined)
  }
  const change = useAction(async (receiver: string, signature?: string) => {
    const body = signature === undefined ? { receiver } : { receiver, signature }
    const { after, dueAt } = await call<ReceiverChangeView>("PATCH", `${api}/receiver`, body).catch(
      (error) => {
        if (error instanceof ApiError && error.code === "RECEIVER_TAKEN") {
          setProof({ text: error.details[0]?.expected ?? "", tried: signature !== undefined })
        }
        throw error
      }
    )
    close()
    toast(
      dueAt === null
        ? `New intents now use ${after.slice(0, 8)}…`
        : `${after.slice(0, 8)}… takes effect on ${shortTime(dueAt)}; you can withdraw the change until then`
    )
    await reload()
  }, next)
  const withdraw = useAction(async () => {
    await call("DELETE", `${api}/receiver/change`)
    toast("Change withdrawn; the address stays the same")
    await reload()
  })
  const waiting = data.receiverChange
  // Shows the checksummed address before confirmation, because people compare that.
  const check = useAction(async (typed: string) => {
    setNext(
      (await call<CheckedAddress>("POST", `${api}/receiver/check`, { receiver: typed.trim() })).receiver
    )
  })
  const wrong = (check.error ?? change.error)?.details.find(({ path }) => path === "body.receiver")?.message
  return (
    <Card title={`${isTest(place.env) ? "Test" : "Live"} receiving address`}>
      <p>
        <Code text={data.receiver} what="the receiving address" />
      </p>
      <p>
        <Explorer url={data.network.explorerUrl} path={`address/${data.receiver}`}>
          {data.network.name}
        </Explorer>
      </p>
      {waiting === null ? null : (
        <div class="notice" role="status">
          <p>
            <strong>
              Changes on <Time at={waiting.dueAt} />
            </strong>{" "}
            to <span class="mono break">{waiting.address}</span>
          </p>
          <p class="soft">
            {waiting.requestedBy} requested it on <Time at={waiting.requestedAt} />. Owners and developers can
            withdraw it.
          </p>
          <Problem error={withdraw.error} />
          {may(integrationRoles) ? (
            <div class="actions start">
              <Button kind="danger" busy={withdraw.busy} onClick={() => void withdraw.run()}>
                Withdraw the change
              </Button>
            </div>
          ) : null}
        </div>
      )}
      {may(ownerRoles) ? (
        <Form submit="Change address" action={{ ...check, run: ({ receiver = "" }) => check.run(receiver) }}>
          <Field
            label="New address"
            name="receiver"
            required
            mono
            placeholder="0x…"
            hint="Applies to new intents. Existing intents and payments keep the old address."
            error={wrong}
          />
        </Form>
      ) : (
        <p class="soft">Only owners can change it.</p>
      )}
      {next !== undefined && proof !== undefined ? (
        <Dialog key="taken" title="This address is in use" onClose={close}>
          <Form
            submit="Move the address"
            onCancel={close}
            action={{ ...change, run: ({ signature = "" }) => change.run(next, signature.trim()) }}
          >
            <p>
              This address is registered to another merchant. If you own it, sign this text with its key and
              paste the signature. The address then belongs to this merchant.
            </p>
            <CodeBlock text={proof.text} what="the text" />
            <Field
              label="Signature"
              name="signature"
              required
              mono
              placeholder="0x…"
              error={proof.tried ? change.error?.of("signature") : undefined}
            />
          </Form>
        </Dialog>
      ) : null}
      {next === undefined || proof !== undefined ? null : (
        <Confirm
          key="receiver"
          title={`Change the ${place.env} receiving address?`}
          action="Change address"
          busy={change.busy}
          error={change.error}
          onConfirm={() => void change.run(next)}
          onClose={close}
        >
          <dl class="compare">
            <dt>Now</dt>
            <dd class="mono break">{data.receiver}</dd>
            <dt>{isTest(place.env) ? "From now on" : "After the wait"}</dt>
            <dd class="mono break">{next}</dd>
          </dl>
          <p>
            Compare it with the address in your wallet, including capital letters: they are its checksum
            (EIP-55).
          </p>
          <p>The change applies to new intents; existing payments keep the old address.</p>
          {isTest(place.env) ? null : (
            <p>
              A live address takes effect after a delay (24 hours by default). You can withdraw the change
              until then.
            </p>
          )}
          {wrong === undefined ? null : <p class="hint bad">{wrong}</p>}
        </Confirm>
      )}
    </Card>
  )
}
