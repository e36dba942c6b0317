// Settings of the merchant's name and of accepted buyers' tokens.
import { useRef, useState } from "preact/hooks"
import type { SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Card } from "./components/Card.tsx"
import { Choice, Choices } from "./components/Choices.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useEdits } from "./useEdits.ts"

const orNull = (text: string | undefined) => (text === undefined || text.trim() === "" ? null : text.trim())

const tokenFields = ["identityAudience", "boundTokensOnly", "tokenLifetimeSeconds"]

export const ProfileCard = ({
  data,
  reload
}: {
  readonly data: SettingsPage
  readonly reload: () => Promise<void>
}) => {
  const { api, refresh } = useSession()
  const { name, identityAudience, boundTokensOnly, tokenLifetimeSeconds } = data.profile
  const edits = useEdits({ name, identityAudience, boundTokensOnly, tokenLifetimeSeconds })
  const form = useRef<HTMLFormElement>(null)
  const [isOpen, setIsOpen] = useState(identityAudience !== null)
  const save = useAction(async (fields: Fields) => {
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
  const errorOf = (field: string) => save.error?.of(field)
  return (
    <Card title="Profile">
      <Form submit="Save" what="profile" action={save} form={form} onInput={edits.onInput}>
        <Field
          label="Name"
          name="name"
          value={name}
          required
          hint="Buyers see this name."
          error={errorOf("name")}
        />
        <details
          open={isOpen || tokenFields.some((field) => errorOf(field) !== undefined)}
          onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
        >
          <summary>Buyers’ tokens (advanced)</summary>
          <div class="stack">
            <Field
              label="Audience of buyers’ tokens"
              name="identityAudience"
              value={identityAudience ?? ""}
              placeholder={location.origin}
              hint="Leave this empty if buyers use the Quittance checkout. If they sign tokens in your own app, enter the exact audience of those tokens. The service then rejects all other tokens, including those of the Quittance checkout."
              error={errorOf("identityAudience")}
            />
            <Choices legend="Accepted tokens">
              <Choice
                type="checkbox"
                name="boundTokensOnly"
                defaultChecked={boundTokensOnly}
                label="Bound to one payment"
                about="Accept only tokens that contain the id of their payment. The Quittance checkout’s tokens always do."
              />
            </Choices>
            <Field
              label="Maximum token lifetime"
              name="tokenLifetimeSeconds"
              value={String(tokenLifetimeSeconds)}
              required
              hint="In seconds. One day is 86400."
              error={errorOf("tokenLifetimeSeconds")}
            />
          </div>
        </details>
        <p class="hint">This profile applies to test and live.</p>
      </Form>
    </Card>
  )
}
