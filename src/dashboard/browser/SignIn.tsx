// Signing in: by a passkey, or by the password and, where the account has an app, its code.
import { useState } from "preact/hooks"
import type { SessionView } from "../api/accounts/Api.ts"
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { Door } from "./Door.tsx"
import { hasPasskeys, signByPasskey } from "./passkey.ts"

/** Asks for a link to a new password; the answer is the same for every address. */
const Forgotten = ({ onBack }: { readonly onBack: () => void }) => {
  const [sent, setSent] = useState(false)
  const ask = useAction(async ({ email }: Readonly<Record<string, string>>) => {
    await call("POST", "/forgotten-password", { email })
    setSent(true)
  })
  return (
    <Door title="Forgotten password">
      {sent ? (
        <p role="status">If the address has an account, a link is on its way. It works for an hour.</p>
      ) : (
        <form class="stack" onSubmit={(event) => void ask.run(fieldsOf(event))}>
          <Field
            label="E-mail"
            name="email"
            type="email"
            required
            autoComplete="username"
            error={ask.error?.of("email")}
          />
          <Problem error={ask.error} fields={["email"]} />
          <Button kind="primary" submit busy={ask.busy}>
            Send a link
          </Button>
        </form>
      )}
      <Button kind="quiet" onClick={onBack}>
        Back to sign-in
      </Button>
    </Door>
  )
}

export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  const [forgotten, setForgotten] = useState(false)
  const signIn = useAction(async (fields: Readonly<Record<string, string>>) => {
    onSignedIn(await call<SessionView>("POST", "/sign-in", withCode(fields)))
  })
  const byPasskey = useAction(async () => {
    onSignedIn(await signByPasskey<SessionView>("/sign-in/passkey"))
  })
  if (forgotten) return <Forgotten onBack={() => setForgotten(false)} />
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
        <CodeField error={signIn.error} />
        <Problem error={signIn.error ?? byPasskey.error} fields={["email", "code"]} />
        <Button kind="primary" submit busy={signIn.busy}>
          Sign in
        </Button>
        {hasPasskeys ? (
          <Button busy={byPasskey.busy} onClick={() => void byPasskey.run()}>
            Use a passkey
          </Button>
        ) : null}
      </form>
      {document.documentElement.dataset["mail"] === "on" ? (
        <Button kind="quiet" onClick={() => setForgotten(true)}>
          Forgotten password?
        </Button>
      ) : null}
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
