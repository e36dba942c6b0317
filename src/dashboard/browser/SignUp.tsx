// Signing up: a person and their merchant, then the merchant's first keys, once.
import { useState } from "preact/hooks"
import type { SessionView, SignedUp } from "../api/accounts/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Secret } from "./components/Copy.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { Door } from "./Door.tsx"

const FirstKeys = ({ signedUp, onDone }: { readonly signedUp: SignedUp; readonly onDone: () => void }) => (
  <Door title="Your first keys">
    <div class="stack">
      <p>
        Store them now: they are <strong>shown this once</strong>. You can always create others under API
        keys.
      </p>
      <Secret value={signedUp.keys.test.secret} what="the test secret key" />
      <Secret value={signedUp.keys.test.publishable} what="the test publishable key" />
      <p class="hint">Both are for test mode. Live payments are not open yet.</p>
      <Button kind="primary" onClick={onDone}>
        I have stored them
      </Button>
    </div>
  </Door>
)

const fields = ["email", "password", "merchantName", "receiver"]

export const SignUp = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  const [signedUp, setSignedUp] = useState<SignedUp>()
  const signUp = useAction(async (values: Readonly<Record<string, string>>) => {
    setSignedUp(await call<SignedUp>("POST", "/sign-up", values))
  })
  if (signedUp !== undefined) {
    return <FirstKeys signedUp={signedUp} onDone={() => onSignedIn(signedUp.session)} />
  }
  if (document.documentElement.dataset["signUp"] !== "open") {
    return (
      <Door title="Sign-up is closed">
        <p>Ask the operator for an invitation.</p>
        <a href="/dashboard/sign-in">Sign in</a>
      </Door>
    )
  }
  const of = (field: string) => signUp.error?.of(field)
  return (
    <Door title="Create an account">
      <form class="stack" onSubmit={(event) => void signUp.run(fieldsOf(event))}>
        <Field
          label="E-mail"
          name="email"
          type="email"
          required
          autoComplete="username"
          error={of("email")}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          required
          minLength={12}
          autoComplete="new-password"
          hint="At least 12 characters."
          error={of("password")}
        />
        <Field
          label="Merchant name"
          name="merchantName"
          required
          hint="What buyers see."
          error={of("merchantName")}
        />
        <Field
          label="Receiving address"
          name="receiver"
          required
          mono
          placeholder="0x…"
          hint="Where buyers' USDC goes, on both networks; change it per environment in Settings."
          error={of("receiver")}
        />
        <Problem error={signUp.error} fields={fields} />
        <Button kind="primary" submit busy={signUp.busy}>
          Create account
        </Button>
      </form>
      <p class="hint">
        Have an account? <a href="/dashboard/sign-in">Sign in</a>
      </p>
    </Door>
  )
}
