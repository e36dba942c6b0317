// Requests the password before a change of where money goes or of who may change it.
import { useEffect, useState } from "preact/hooks"
import { call, useAction } from "./api.ts"
import { CodeField, withCode } from "./CodeField.tsx"
import { Button } from "./components/Button.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { hasPasskeys, signByPasskey } from "./passkey.ts"
import { setPasswordPrompt } from "./passwordPrompt.ts"

export const PasswordPrompt = () => {
  const [waiting, setWaiting] = useState<{ readonly answer: (confirmed: boolean) => void }>()
  useEffect(() => setPasswordPrompt(() => new Promise((resolve) => setWaiting({ answer: resolve }))), [])
  const end = (confirmed: boolean) => {
    waiting?.answer(confirmed)
    setWaiting(undefined)
  }
  const confirm = useAction(async (fields: Fields) => {
    await call("POST", "/confirm", withCode(fields))
    end(true)
  })
  const byPasskey = useAction(async () => {
    await signByPasskey("/confirm/passkey")
    end(true)
  })
  if (waiting === undefined) return null
  return (
    <Dialog key="password" alone title="Confirm your password" onClose={() => end(false)}>
      <Form
        submit="Confirm"
        action={confirm}
        onCancel={() => end(false)}
        beside={
          hasPasskeys ? (
            <Button kind="quiet" busy={byPasskey.busy} onClick={() => void byPasskey.run()}>
              Use a passkey
            </Button>
          ) : null
        }
        besideError={byPasskey.error}
      >
        <p>Enter your password to continue. You will not be asked again for five minutes.</p>
        <Field label="Password" name="password" type="password" required autoComplete="current-password" />
        <CodeField />
      </Form>
    </Dialog>
  )
}
