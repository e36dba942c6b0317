// One's own password and sessions.
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { navigate } from "./router.ts"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

export const AccountCard = () => {
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
