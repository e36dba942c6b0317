// The merchant's members with their roles, and open invitations.
import { useId, useState } from "preact/hooks"
import type { Role } from "../../domain/Role.ts"
import { ownerRoles, everyRole as roles } from "../../domain/roleSets.ts"
import type { Invitation, SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Secret } from "./components/Copy.tsx"
import { Confirm, ShownOnce } from "./components/Dialog.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Item } from "./components/Item.tsx"
import { Time } from "./components/Time.tsx"
import { roleWords, useMay } from "./roles.ts"
import { navigate } from "./router.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

type Member = SettingsPage["members"][number]

interface Part {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}

/** A choice of roles, with the permissions of each. */
const RoleChoice = (props: {
  readonly label: string
  readonly value: Role
  readonly hidden?: boolean
  readonly disabled?: boolean
  readonly onChange?: (role: Role) => void
}) => {
  const id = useId()
  return (
    <div class={props.hidden === true ? "role" : "field"}>
      <label for={id} class={props.hidden === true ? "hidden" : undefined}>
        {props.label}
      </label>
      <select
        id={id}
        class="input"
        name="role"
        value={props.value}
        disabled={props.disabled}
        onChange={({ currentTarget }) => {
          const role = roles.find((one) => one === currentTarget.value)
          if (role !== undefined) props.onChange?.(role)
        }}
      >
        {roles.map((role) => (
          <option key={role} value={role}>
            {roleWords[role].name}
          </option>
        ))}
      </select>
      {props.hidden === true ? null : <p class="hint">{roleWords[props.value].about}</p>}
    </div>
  )
}

export const Members = ({ data, reload }: Part) => {
  const { api, session, refresh } = useSession()
  const isOwner = useMay()(ownerRoles)
  const [role, setRole] = useState<Role>("developer")
  const [changing, setChanging] = useState<{ readonly member: Member; readonly role: Role }>()
  const [link, setLink] = useState<string>()
  const [leaving, setLeaving] = useState<Member>()
  const invite = useAction(async ({ email }: Fields) => {
    setLink((await call<Invitation>("POST", `${api}/members`, { email, role })).link)
    await reload()
  })
  const withdraw = useAction(async (id: string) => {
    await call("DELETE", `${api}/members/invitations/${id}`)
    toast("Invitation withdrawn. Its link no longer works.")
    await reload()
  })
  const remove = useAction(async (id: string) => {
    const isSelf = id === session.user.id
    await (isSelf ? call("POST", `${api}/members/leave`) : call("DELETE", `${api}/members/${id}`))
    setLeaving(undefined)
    toast(isSelf ? "You left the merchant" : "Member removed")
    if (isSelf) {
      await refresh()
      navigate("/dashboard")
    } else await reload()
  }, leaving)
  const changeRole = useAction(async (member: Member, next: Role) => {
    await call("PUT", `${api}/members/${member.id}/role`, { role: next })
    setChanging(undefined)
    toast(`${member.email}: ${roleWords[next].name}`)
    await Promise.all([reload(), refresh()])
  }, changing)
  return (
    <Card title="Members">
      <ul class="list">
        {data.members.map((member) => (
          <Item
            key={member.id}
            title={
              <>
                {member.email}
                {member.id === session.user.id ? <span class="soft"> (you)</span> : null}
              </>
            }
            about={
              <>
                Since <Time at={member.joinedAt} />
              </>
            }
          >
            <span class="row-actions">
              {isOwner ? (
                <RoleChoice
                  label={`Role of ${member.email}`}
                  hidden
                  value={member.role}
                  onChange={(next) => setChanging({ member, role: next })}
                />
              ) : (
                <span class="soft">{roleWords[member.role].name}</span>
              )}
              {member.id === session.user.id ? (
                <Button kind="danger" onClick={() => setLeaving(member)}>
                  Leave
                </Button>
              ) : isOwner ? (
                <Button kind="danger" label={`Remove ${member.email}`} onClick={() => setLeaving(member)}>
                  Remove
                </Button>
              ) : null}
            </span>
          </Item>
        ))}
        {data.invitations.map(({ email, expiresAt, id, invitedBy, role: invitedAs }) => (
          <Item
            key={id}
            title={<span class="soft">{email}</span>}
            about={
              <>
                invited as {roleWords[invitedAs].name.toLowerCase()} by {invitedBy ?? "the operator"}, until{" "}
                <Time at={expiresAt} />
              </>
            }
          >
            {isOwner ? (
              <Button
                kind="danger"
                label={`Withdraw the invitation of ${email}`}
                busy={withdraw.busy}
                onClick={() => void withdraw.run(id)}
              >
                Withdraw
              </Button>
            ) : null}
          </Item>
        ))}
      </ul>
      {isOwner ? (
        <Form submit="Invite" action={invite}>
          <Field
            label="Invite by email"
            name="email"
            type="email"
            required
            hint="Creates a one-time link that is valid for three days."
          />
          <RoleChoice label="Role" value={role} onChange={setRole} />
        </Form>
      ) : null}
      {link === undefined ? null : (
        <ShownOnce key="invitation" title="Share this link" done="Done" onClose={() => setLink(undefined)}>
          <p>
            The link works once and is <strong>shown only once</strong>.
          </p>
          <Secret value={link} what="the link" />
        </ShownOnce>
      )}
      {leaving === undefined ? null : (
        <Confirm
          key="removal"
          title={leaving.id === session.user.id ? "Leave this merchant?" : `Remove ${leaving.email}?`}
          action={leaving.id === session.user.id ? "Leave" : "Remove"}
          danger
          busy={remove.busy}
          error={remove.error}
          onConfirm={() => void remove.run(leaving.id)}
          onClose={() => setLeaving(undefined)}
        >
          <p>
            {leaving.id === session.user.id
              ? "You lose access immediately. To return, ask an owner for a new invitation."
              : "They lose access immediately, and invitations they sent stop working."}
          </p>
        </Confirm>
      )}
      {changing === undefined ? null : (
        <Confirm
          key="role"
          title={`Change the role of ${changing.member.email} to ${roleWords[changing.role].name.toLowerCase()}?`}
          action="Change role"
          busy={changeRole.busy}
          error={changeRole.error}
          onConfirm={() => void changeRole.run(changing.member, changing.role)}
          onClose={() => setChanging(undefined)}
        >
          <p>{roleWords[changing.role].about} The new role applies at once.</p>
        </Confirm>
      )}
    </Card>
  )
}
