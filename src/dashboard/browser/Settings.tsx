// How buyers see the merchant, where money goes, who belongs to it, and one's own account.
import { useRef, useState } from "preact/hooks"
import { developers, owners } from "../../domain/roleSets.ts"
import type { CheckedAddress, ReceiverChangeView, SettingsPage } from "../settings/Api.ts"
import { ApiError, call, useAction } from "./api.ts"
import { ChangeLog } from "./ChangeLog.tsx"
import { CodeField, withCode } from "./CodeField.tsx"
import { Face } from "./Face.tsx"
import { shortTime } from "./format.ts"
import { Members } from "./Members.tsx"
import { Button } from "./parts/Button.tsx"
import { Card } from "./parts/Card.tsx"
import { Code, Copy } from "./parts/Copy.tsx"
import { Confirm, Dialog } from "./parts/Dialog.tsx"
import { Explorer } from "./parts/External.tsx"
import { Field, fieldsOf } from "./parts/Field.tsx"
import { Loaded } from "./parts/Loaded.tsx"
import { Problem } from "./parts/Problem.tsx"
import { Time } from "./parts/Time.tsx"
import { Region } from "./Region.tsx"
import { useMay } from "./roles.ts"
import { navigate } from "./router.ts"
import { SecurityCard } from "./SecurityCard.tsx"
import { useSession } from "./session.ts"
import { TellingCard } from "./TellingCard.tsx"
import { toast } from "./toasts.ts"
import { useEdits } from "./useEdits.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

interface Part {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}

const orNull = (text: string | undefined) => (text === undefined || text.trim() === "" ? null : text.trim())

const Profile = ({ data, reload }: Part) => {
  const { api, refresh } = useSession()
  const { name, identityAudience, boundTokensOnly, tokenLifetimeSeconds } = data.profile
  const edits = useEdits({ name, identityAudience, boundTokensOnly, tokenLifetimeSeconds })
  const form = useRef<HTMLFormElement>(null)
  const save = useAction(async (fields: Readonly<Record<string, string>>) => {
    const typed = {
      name: (fields["name"] ?? "").trim(),
      identityAudience: orNull(fields["identityAudience"]),
      boundTokensOnly: fields["boundTokensOnly"] !== undefined,
      tokenLifetimeSeconds: Number(fields["tokenLifetimeSeconds"])
    }
    await call("PATCH", `${api}/settings`, edits.editsOf(typed)).catch((error) => {
      if (edits.failed(error)) void reload()
      throw error
    })
    edits.saved()
    toast("Saved")
    await Promise.all([reload(), refresh()])
    if (!edits.isEdited()) form.current?.reset()
  })
  const of = (field: string) => save.error?.of(field)
  return (
    <Card title="Profile">
      <form
        ref={form}
        class="stack"
        onInput={edits.onInput}
        onSubmit={(event) => void save.run(fieldsOf(event))}
      >
        <Field label="Name" name="name" value={name} required hint="What buyers see." error={of("name")} />
        <Field
          label="Identity audience (advanced)"
          name="identityAudience"
          value={identityAudience ?? ""}
          placeholder={location.origin}
          hint="A buyer proves who they are by a token that their wallet signs for one service. The checkout names this service, so leave it empty. Fill it in only if buyers sign tokens in an app of your own: then enter exactly the `aud` that it signs, and tokens for anything else are refused, the checkout's too."
          error={of("identityAudience")}
        />
        <fieldset class="choices">
          <legend>Identity tokens</legend>
          <label>
            <input type="checkbox" name="boundTokensOnly" defaultChecked={boundTokensOnly} />
            <span>
              <strong>Bound to one payment</strong>
              <small>Require each token to name its payment. The checkout's tokens always do.</small>
            </span>
          </label>
        </fieldset>
        <Field
          label="Maximum token lifetime"
          name="tokenLifetimeSeconds"
          value={String(tokenLifetimeSeconds)}
          required
          hint="In seconds; 86400 is a day."
          error={of("tokenLifetimeSeconds")}
        />
        <Problem error={save.error} fields={["name", "identityAudience", "tokenLifetimeSeconds"]} />
        <p class="hint">The profile applies to test and live.</p>
        <div class="actions start">
          <Button kind="primary" submit busy={save.busy}>
            Save profile
          </Button>
        </div>
      </form>
    </Card>
  )
}

const Receiver = ({ data, reload }: Part) => {
  const { api, place } = useSession()
  const may = useMay()
  const [next, setNext] = useState<string>()
  /** What the owner of another merchant's address signs, and whether that was tried. */
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
        ? `New intents now name ${after.slice(0, 8)}…`
        : `${after.slice(0, 8)}… takes over on ${shortTime(dueAt)}; until then it can be withdrawn`
    )
    await reload()
  }, next)
  const withdraw = useAction(async () => {
    await call("DELETE", `${api}/receiver/change`)
    toast("Withdrawn: the address stays as it is")
    await reload()
  })
  const waiting = data.receiverChange
  // With its checksum before anything is asked: that is what people compare.
  const check = useAction(async (typed: string) => {
    setNext(
      (await call<CheckedAddress>("POST", `${api}/receiver/check`, { receiver: typed.trim() })).receiver
    )
  })
  const wrong = (check.error ?? change.error)?.details.find(({ path }) => path === "body.receiver")?.message
  return (
    <Card title={`Receiving address, ${place.env}`}>
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
            {waiting.requestedBy} asked for it on <Time at={waiting.requestedAt} />. Owners and developers can
            withdraw it.
          </p>
          <Problem error={withdraw.error} />
          {may(developers) ? (
            <div class="actions start">
              <Button kind="danger" busy={withdraw.busy} onClick={() => void withdraw.run()}>
                Withdraw the change
              </Button>
            </div>
          ) : null}
        </div>
      )}
      {may(owners) ? (
        <form class="stack" onSubmit={(event) => void check.run(fieldsOf(event)["receiver"] ?? "")}>
          <Field
            label="New address"
            name="receiver"
            required
            mono
            placeholder="0x…"
            hint="Applies to new intents. Existing intents and payments keep their address."
            error={wrong}
          />
          <div class="actions start">
            <Button submit busy={check.busy}>
              Change address
            </Button>
          </div>
        </form>
      ) : (
        <p class="soft">Owners change it.</p>
      )}
      {next !== undefined && proof !== undefined ? (
        <Dialog key="taken" title="This address is in use" onClose={close}>
          <form
            class="stack"
            onSubmit={(event) => void change.run(next, (fieldsOf(event)["signature"] ?? "").trim())}
          >
            <p>
              Another merchant receives, or once received, at this address. If it is yours, sign this text
              with its key and paste the signature: the address then belongs to this merchant.
            </p>
            <pre>{proof.text}</pre>
            <p>
              <Copy text={proof.text} what="the text" />
            </p>
            <Field
              label="Signature"
              name="signature"
              required
              mono
              placeholder="0x…"
              error={proof.tried ? change.error?.of("signature") : undefined}
            />
            <div class="actions">
              <Button onClick={close}>Cancel</Button>
              <Button kind="primary" submit busy={change.busy}>
                Move the address
              </Button>
            </div>
          </form>
        </Dialog>
      ) : null}
      {next === undefined || proof !== undefined ? null : (
        <Confirm
          key="receiver"
          title={`Change where ${place.env} money goes?`}
          action="Change address"
          busy={change.busy}
          error={change.error}
          onConfirm={() => void change.run(next)}
          onClose={close}
        >
          <dl class="compare">
            <dt>Now</dt>
            <dd class="mono break">{data.receiver}</dd>
            <dt>{place.env === "live" ? "After the wait" : "From now on"}</dt>
            <dd class="mono break">{next}</dd>
          </dl>
          <p>
            Compare it with your wallet, capital letters too: they are its checksum (EIP-55), so that a
            mistyped address does not pass.
          </p>
          <p>It applies to new intents; existing payments keep the old address.</p>
          {place.env === "live" ? (
            <p>
              A live address takes effect after a delay (24 hours by default) and can be withdrawn until then.
            </p>
          ) : null}
          {wrong === undefined ? null : <p class="hint bad">{wrong}</p>}
        </Confirm>
      )}
    </Card>
  )
}

const Account = () => {
  const { session, refresh } = useSession()
  const change = useAction(async (fields: Readonly<Record<string, string>>) => {
    await call("POST", "/password", withCode(fields))
    toast("The password was changed; other sessions have ended")
  })
  const everywhere = useAction(async () => {
    await call("POST", "/sign-out-everywhere")
    navigate("/dashboard/sign-in")
    await refresh()
  })
  return (
    <Card title="Your account">
      <p class="break">{session.user.email}</p>
      <form class="stack" onSubmit={(event) => void change.run(fieldsOf(event))}>
        <Field
          label="Current password"
          name="current"
          type="password"
          required
          autoComplete="current-password"
          error={change.error?.of("current")}
        />
        <Field
          label="New password"
          name="next"
          type="password"
          required
          minLength={12}
          autoComplete="new-password"
          hint="At least 12 characters. Every other session ends."
          error={change.error?.of("next")}
        />
        <CodeField error={change.error} />
        <Problem error={change.error} fields={["current", "next", "code"]} />
        <div class="actions start">
          <Button submit busy={change.busy}>
            Change password
          </Button>
          <Button kind="danger" busy={everywhere.busy} onClick={() => void everywhere.run()}>
            Sign out everywhere
          </Button>
        </div>
      </form>
    </Card>
  )
}

export const Settings = () => {
  const page = useMerchantPage<SettingsPage>("/settings", { everyMillis: 10_000 })
  const isOwner = useMay()(owners)
  return (
    <>
      <h1>Settings</h1>
      <Loaded page={page}>
        {(data) => (
          <div class="halves">
            <div class="stack large">
              <Receiver data={data} reload={page.reload} />
              <Members data={data} reload={page.reload} />
              <Account />
              <SecurityCard />
              <TellingCard />
            </div>
            <div class="stack large">
              {isOwner ? (
                <>
                  <Profile data={data} reload={page.reload} />
                  <Face face={data.face} reload={page.reload} />
                </>
              ) : null}
              <Region data={data} reload={page.reload} />
              <ChangeLog />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}
