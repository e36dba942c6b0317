// How buyers see the merchant, and which identity tokens it takes.
import { useRef } from "preact/hooks"
import type { SettingsPage } from "../api/settings/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useEdits } from "./useEdits.ts"

const orNull = (text: string | undefined) => (text === undefined || text.trim() === "" ? null : text.trim())

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
