// Signing in with a passkey, or with the password and, if the account has an app, its code.
import { useState } from "preact/hooks"
import type { SessionView } from "../api/accounts/Api.ts"
import { ApiError } from "./ApiError.ts"
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { hasPasskeys, signByPasskey } from "./passkey.ts"
import { SignedOutLayout } from "./SignedOutLayout.tsx"

/** Requests a password reset link. The response is the same for every address. */
const Forgotten = ({ onBack }: { readonly onBack: () => void }) => {
  const [sent, setSent] = useState(false)
  const ask = useAction(async ({ email }: Fields) => {
    await call("POST", "/forgotten-password", { email })
    setSent(true)
  })
  return (
    <SignedOutLayout title="Forgotten password">
      {sent ? (
        <p role="status">
          If there is an account with this address, we are sending it a link. The link works for an hour.
        </p>
      ) : (
        <Form submit="Send a link" action={ask} primary>
          <Field label="Email" name="email" type="email" required autoComplete="username" />
        </Form>
      )}
      <Button kind="quiet" onClick={onBack}>
        Back to sign-in
      </Button>
    </SignedOutLayout>
  )
}

const hasMail = () => document.documentElement.dataset["mail"] === "on"

/** The service's sentence names ways to a new password that this page may not have. */
const inWords = (error: unknown): never => {
  if (!(error instanceof ApiError) || error.code !== "SIGN_IN_FAILED") throw error
  const message = `Incorrect email or password.${hasMail() ? "" : " Ask the operator for a reset link."}`
  throw new ApiError(error.status, { code: error.code, message })
}

export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  const [forgotten, setForgotten] = useState(false)
  const signIn = useAction(async (fields: Fields) => {
    onSignedIn(await call<SessionView>("POST", "/sign-in", withCode(fields)).catch(inWords))
  })
  const byPasskey = useAction(async () => {
    onSignedIn(await signByPasskey<SessionView>("/sign-in/passkey"))
  })
  if (forgotten) return <Forgotten onBack={() => setForgotten(false)} />
  return (
    <SignedOutLayout title="Sign in">
      <Form
        submit="Sign in"
        action={signIn}
        primary
        besideError={byPasskey.error}
        beside={
          hasPasskeys ? (
            <Button busy={byPasskey.busy} onClick={() => void byPasskey.run()}>
              Use a passkey
            </Button>
          ) : null
        }
      >
        <Field label="Email" name="email" type="email" required autoComplete="username" />
        <Field label="Password" name="password" type="password" required autoComplete="current-password" />
        <CodeField />
      </Form>
      {hasMail() ? (
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
    </SignedOutLayout>
  )
}
