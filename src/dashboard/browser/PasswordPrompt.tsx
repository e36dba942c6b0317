// Asks for the password before a change of where money goes or of who may change it.
import { useEffect, useState } from "preact/hooks"
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { hasPasskeys, signByPasskey } from "./passkey.ts"
import { setPasswordPrompt } from "./passwordPrompt.ts"

export const PasswordPrompt = () => {
  const [waiting, setWaiting] = useState<{ readonly answer: (confirmed: boolean) => void }>()
  useEffect(() => setPasswordPrompt(() => new Promise((resolve) => setWaiting({ answer: resolve }))), [])
  const end = (confirmed: boolean) => {
    waiting?.answer(confirmed)
    setWaiting(undefined)
  }
  const confirm = useAction(async (fields: Readonly<Record<string, string>>) => {
    await call("POST", "/confirm", withCode(fields))
    end(true)
  })
  const byPasskey = useAction(async () => {
    await signByPasskey("/confirm/passkey")
    end(true)
  })
  if (waiting === undefined) return null
  return (
    <Dialog key="password" title="Confirm your password" onClose={() => end(false)}>
      <form class="stack" onSubmit={(event) => void confirm.run(fieldsOf(event))}>
        <p>
          This changes where money goes or who may change it. It is then open for five minutes, and every
          member is told what was changed.
        </p>
        <Field
          label="Password"
          name="password"
          type="password"
          required
          autoComplete="current-password"
          error={confirm.error?.of("password")}
        />
        <CodeField error={confirm.error} />
        <Problem error={confirm.error ?? byPasskey.error} fields={["password", "code"]} />
        <div class="actions">
          <Button onClick={() => end(false)}>Cancel</Button>
          {hasPasskeys ? (
            <Button busy={byPasskey.busy} onClick={() => void byPasskey.run()}>
              Use a passkey
            </Button>
          ) : null}
          <Button kind="primary" submit busy={confirm.busy}>
            Confirm
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
