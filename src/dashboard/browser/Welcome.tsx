// Where a one-time link leads. Its token is in the address's fragment, which no server sees.
import type { SessionView } from "../api/accounts/Api.ts"
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { Door } from "./Door.tsx"
import { useAddress } from "./router.ts"

export const Welcome = ({ onSignedIn }: { readonly onSignedIn: (session: SessionView) => void }) => {
  // Another link pasted into the same tab changes the fragment alone.
  const token = useAddress().hash.slice(1)
  const redeem = useAction(async (fields: Readonly<Record<string, string>>) => {
    onSignedIn(await call<SessionView>("POST", "/one-time-link", { token, ...withCode(fields) }))
  })
  return (
    <Door title="Welcome">
      {token === "" ? (
        <p>The link is incomplete. Open the full link you were given.</p>
      ) : (
        <form class="stack" onSubmit={(event) => void redeem.run(fieldsOf(event))}>
          <p>The link works once.</p>
          <Field
            label="Password"
            name="password"
            type="password"
            required
            minLength={12}
            autoComplete="new-password"
            hint="Choose one of at least 12 characters. If you were invited and have an account, enter its password."
            error={redeem.error?.of("password")}
          />
          <CodeField error={redeem.error} />
          <Problem error={redeem.error} fields={["password", "code"]} />
          <Button kind="primary" submit busy={redeem.busy}>
            Continue
          </Button>
        </form>
      )}
    </Door>
  )
}
