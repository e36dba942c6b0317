// Signing up: creates a user and their merchant, then shows the merchant's first keys once.
import { useState } from "preact/hooks"
import type { SessionView, SignedUp } from "../api/accounts/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Secret } from "./components/Copy.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { SignedOutLayout } from "./SignedOutLayout.tsx"

const FirstKeys = ({ signedUp, onDone }: { readonly signedUp: SignedUp; readonly onDone: () => void }) => (
  <SignedOutLayout title="Your first keys">
    <div class="stack">
      <p>
        Store the secret key now: it is <strong>shown only once</strong>. You can always create another under
        API keys.
      </p>
      <section class="stack">
        <h2 class="small">Secret key, for your server</h2>
        <Secret value={signedUp.keys.test.secret} what="the test secret key" />
      </section>
      <section class="stack">
        <h2 class="small">Publishable key, for your pages</h2>
        <Secret value={signedUp.keys.test.publishable} what="the test publishable key" />
      </section>
      <p class="hint">Both are for test mode: no real money moves.</p>
      <Button kind="primary" onClick={onDone}>
        I have stored the keys
      </Button>
    </div>
  </SignedOutLayout>
)

const receiverTaken =
  "This address is registered to another merchant. Sign up with a different address. If you own it, you can move it to your merchant in Settings afterwards."

export const SignUp = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  const [signedUp, setSignedUp] = useState<SignedUp>()
  const signUp = useAction(async (values: Fields) => {
    setSignedUp(await call<SignedUp>("POST", "/sign-up", values))
  })
  if (signedUp !== undefined) {
    return <FirstKeys signedUp={signedUp} onDone={() => onSignedIn(signedUp.session)} />
  }
  if (document.documentElement.dataset["signUp"] !== "open") {
    return (
      <SignedOutLayout title="Sign-up is closed">
        <p>Ask the operator for an invitation.</p>
        <a href="/dashboard/sign-in">Sign in</a>
      </SignedOutLayout>
    )
  }
  const isTaken = signUp.error?.code === "RECEIVER_TAKEN"
  return (
    <SignedOutLayout title="Create an account">
      <Form submit="Create account" action={signUp} primary>
        <Field label="Email" name="email" type="email" required autoComplete="username" />
        <Field
          label="Password"
          name="password"
          type="password"
          required
          minLength={12}
          autoComplete="new-password"
          hint="At least 12 characters."
        />
        <Field label="Merchant name" name="merchantName" required hint="Buyers see this name." />
        <Field
          label="Receiving address"
          name="receiver"
          required
          mono
          placeholder="0x…"
          hint="The address that receives USDC on both networks. You can change it per environment in Settings."
          error={isTaken ? receiverTaken : undefined}
        />
      </Form>
      <p class="hint">
        Have an account? <a href="/dashboard/sign-in">Sign in</a>
      </p>
    </SignedOutLayout>
  )
}
