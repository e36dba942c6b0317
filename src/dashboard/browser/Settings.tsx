// How buyers see the merchant, where money goes, who belongs to it, and one's own account.
import { useState } from "preact/hooks"
import type { Invitation, ReceiverChangeView, SettingsPage } from "../settings/Api.ts"
import { ApiError, call, useAction } from "./api.ts"
import { ChangeLog } from "./ChangeLog.tsx"
import { Face } from "./Face.tsx"
import {
  Button,
  Card,
  Code,
  Confirm,
  Copy,
  Dialog,
  External,
  Field,
  fieldsOf,
  Loaded,
  Problem,
  Secret,
  Time
} from "./parts.tsx"
import { navigate } from "./router.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

interface Part {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}

const orNull = (text: string | undefined) => (text === undefined || text.trim() === "" ? null : text.trim())

const Profile = ({ data, reload }: Part) => {
  const { api, refresh } = useSession()
  const save = useAction(async (fields: Readonly<Record<string, string>>) => {
    await call("PATCH", `${api}/settings`, {
      name: (fields["name"] ?? "").trim(),
      logoUrl: data.profile.logoUrl,
      identityAudience: orNull(fields["identityAudience"]),
      boundTokensOnly: fields["boundTokensOnly"] !== undefined,
      tokenLifetimeSeconds: Number(fields["tokenLifetimeSeconds"])
    })
    toast("Saved")
    await Promise.all([reload(), refresh()])
  })
  const { name, identityAudience, boundTokensOnly, tokenLifetimeSeconds } = data.profile
  const of = (field: string) => save.error?.of(field)
  return (
    <Card title="Profile">
      <form class="stack" onSubmit={(event) => void save.run(fieldsOf(event))}>
        <Field label="Name" name="name" value={name} required hint="What buyers see." error={of("name")} />
        <Field
          label="Identity audience"
          name="identityAudience"
          value={identityAudience ?? ""}
          hint="The only audience accepted in your buyers' identity tokens. Empty: this service's origin."
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
        : `${after.slice(0, 8)}… takes over in a day; until then it can be withdrawn`
    )
    await reload()
  })
  const withdraw = useAction(async () => {
    await call("DELETE", `${api}/receiver/change`)
    toast("Withdrawn: the address stays as it is")
    await reload()
  })
  const waiting = data.receiverChange
  const wrong = change.error?.details.find(({ path }) => path === "body.receiver")?.message
  return (
    <Card title={`Receiving address, ${place.env}`}>
      <p>
        <Code text={data.receiver} what="the receiving address" />
      </p>
      <p>
        <External href={`${data.network.explorerUrl}/address/${data.receiver}`}>{data.network.name}</External>
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
            {waiting.requestedBy} asked for it on <Time at={waiting.requestedAt} />. Any member can withdraw
            it.
          </p>
          <Problem error={withdraw.error} />
          <div class="actions start">
            <Button kind="danger" busy={withdraw.busy} onClick={() => void withdraw.run()}>
              Withdraw the change
            </Button>
          </div>
        </div>
      )}
      <form class="stack" onSubmit={(event) => setNext((fieldsOf(event)["receiver"] ?? "").trim())}>
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
          <Button submit>Change address</Button>
        </div>
      </form>
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

const Members = ({ data, reload }: Part) => {
  const { api, session, refresh } = useSession()
  const [link, setLink] = useState<string>()
  const [leaving, setLeaving] = useState<SettingsPage["members"][number]>()
  const invite = useAction(async ({ email }: Readonly<Record<string, string>>) => {
    setLink((await call<Invitation>("POST", `${api}/members`, { email })).link)
    await reload()
  })
  const withdraw = useAction(async (id: string) => {
    await call("DELETE", `${api}/members/invitations/${id}`)
    toast("Withdrawn: its link opens nothing any more")
    await reload()
  })
  const remove = useAction(async (id: string) => {
    await call("DELETE", `${api}/members/${id}`)
    setLeaving(undefined)
    toast("Removed")
    if (id === session.user.id) {
      await refresh()
      navigate("/dashboard")
    } else await reload()
  })
  return (
    <Card title="Members">
      <ul class="list">
        {data.members.map((member) => (
          <li key={member.id}>
            <span class="person">
              <span class="break">
                {member.email}
                {member.id === session.user.id ? <span class="soft"> (you)</span> : null}
              </span>
              <small class="soft">
                since <Time at={member.joinedAt} />
              </small>
            </span>
            <Button kind="danger" label={`Remove ${member.email}`} onClick={() => setLeaving(member)}>
              Remove
            </Button>
          </li>
        ))}
        {data.invitations.map(({ email, expiresAt, id, invitedBy }) => (
          <li key={id}>
            <span class="person">
              <span class="break soft">{email}</span>
              <small class="soft">
                invited by {invitedBy ?? "the operator"}, until <Time at={expiresAt} />
              </small>
            </span>
            <Button
              kind="danger"
              label={`Withdraw the invitation of ${email}`}
              busy={withdraw.busy}
              onClick={() => void withdraw.run(id)}
            >
              Withdraw
            </Button>
          </li>
        ))}
      </ul>
      <form class="stack" onSubmit={(event) => void invite.run(fieldsOf(event))}>
        <Field
          label="Invite by e-mail"
          name="email"
          type="email"
          required
          hint="Creates a one-time link, valid for three days. Members have the same permissions as you."
          error={invite.error?.of("email")}
        />
        <Problem error={invite.error} fields={["email"]} />
        <div class="actions start">
          <Button submit busy={invite.busy}>
            Invite
          </Button>
        </div>
      </form>
      {link === undefined ? null : (
        <Dialog key="invitation" title="Share this link" onClose={() => setLink(undefined)}>
          <div class="stack">
            <p>
              It works once and is <strong>shown this once</strong>.
            </p>
            <Secret value={link} what="the link" />
            <div class="actions">
              <Button kind="primary" onClick={() => setLink(undefined)}>
                Done
              </Button>
            </div>
          </div>
        </Dialog>
      )}
      {leaving === undefined ? null : (
        <Confirm
          key="removal"
          title={`Remove ${leaving.email}?`}
          action="Remove"
          danger
          busy={remove.busy}
          error={remove.error}
          onConfirm={() => void remove.run(leaving.id)}
          onClose={() => setLeaving(undefined)}
        >
          <p>They lose access immediately, and invitations they sent stop working.</p>
        </Confirm>
      )}
    </Card>
  )
}

const Account = () => {
  const { session, refresh } = useSession()
  const change = useAction(async (fields: Readonly<Record<string, string>>) => {
    await call("POST", "/password", { current: fields["current"], next: fields["next"] })
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
        <Problem error={change.error} fields={["current", "next"]} />
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
  const page = useMerchantPage<SettingsPage>("/settings", 10_000)
  return (
    <>
      <h1>Settings</h1>
      <Loaded page={page}>
        {(data) => (
          <div class="halves">
            <div class="stack large">
              <Receiver data={data} reload={page.reload} />
              <Members data={data} reload={page.reload} />
            </div>
            <div class="stack large">
              <Profile data={data} reload={page.reload} />
              <Face face={data.face} reload={page.reload} />
              <Account />
              <ChangeLog />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}
