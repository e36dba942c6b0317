// The user's password, and signing out everywhere.
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { navigate } from "./router.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

export const AccountCard = () => {
  const { session, refresh } = useSession()
  const change = useAction(async (fields: Fields) => {
    await call("POST", "/password", withCode(fields))
    toast("Password changed; all other sessions ended")
  })
  const everywhere = useAction(async () => {
    await call("POST", "/sign-out-everywhere")
    navigate("/dashboard/sign-in")
    await refresh()
  })
  return (
    <Card title="Password">
      <p class="break">{session.user.email}</p>
      <Form
        submit="Change password"
        action={change}
        beside={
          <Button kind="danger" busy={everywhere.busy} onClick={() => void everywhere.run()}>
            Sign out everywhere
          </Button>
        }
      >
        <Field
          label="Current password"
          name="current"
          type="password"
          required
          autoComplete="current-password"
        />
        <Field
          label="New password"
          name="next"
          type="password"
          required
          minLength={12}
          autoComplete="new-password"
          hint="At least 12 characters. All other sessions end."
        />
        <CodeField />
      </Form>
    </Card>
  )
}
