// Signing in.
import type { SessionView } from "../accounts/Api.ts"
import { call, useAction } from "./api.ts"
import { Door } from "./Door.tsx"
import { Button, Field, fieldsOf, Problem } from "./parts.tsx"

export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  const signIn = useAction(async (fields: Readonly<Record<string, string>>) => {
    onSignedIn(await call<SessionView>("POST", "/sign-in", fields))
  })
  return (
    <Door title="Sign in">
      <form class="stack" onSubmit={(event) => void signIn.run(fieldsOf(event))}>
        <Field
          label="E-mail"
          name="email"
          type="email"
          required
          autoComplete="username"
          error={signIn.error?.of("email")}
        />
        <Field label="Password" name="password" type="password" required autoComplete="current-password" />
        <Problem error={signIn.error} fields={["email"]} />
        <Button kind="primary" submit busy={signIn.busy}>
          Sign in
        </Button>
      </form>
      {document.documentElement.dataset["signUp"] === "open" ? (
        <p class="hint">
          New here? <a href="/dashboard/sign-up">Create an account</a>
        </p>
      ) : (
        <p class="hint">No account? Ask the operator for an invitation.</p>
      )}
    </Door>
  )
}
