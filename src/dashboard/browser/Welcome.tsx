// The page of a one-time link. Its token is in the URL's fragment, which no server sees.
import type { SessionView } from "../api/accounts/Api.ts"
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { useAddress } from "./router.ts"
import { SignedOutLayout } from "./SignedOutLayout.tsx"

export const Welcome = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  // Another link pasted into the same tab changes only the fragment.
  const token = useAddress().hash.slice(1)
  const redeem = useAction(async (fields: Fields) => {
    onSignedIn(await call<SessionView>("POST", "/one-time-link", { token, ...withCode(fields) }))
  })
  return (
    <SignedOutLayout title={token === "" ? "Incomplete link" : "Welcome"}>
      {token === "" ? (
        <p>Part of the link is missing. Copy the whole link from your email, and open it again.</p>
      ) : (
        <Form submit="Continue" action={redeem} primary>
          <p>The link works only once.</p>
          <Field
            label="Password"
            name="password"
            type="password"
            required
            minLength={12}
            autoComplete="new-password"
            hint="Choose a password of at least 12 characters. If you were invited and have an account, enter its password."
          />
          <CodeField />
        </Form>
      )}
    </SignedOutLayout>
  )
}
