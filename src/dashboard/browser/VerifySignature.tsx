// Checks whether a signature is valid, and if not, why. Computed in the browser: the secret is not sent anywhere.
import { useState } from "preact/hooks"
import { verifyWebhook, WebhookVerificationError } from "../../packages/client/verifyWebhook.ts"
import { useAction } from "./api.ts"
import { Back } from "./components/Back.tsx"
import { Card } from "./components/Card.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Icon } from "./Icon.tsx"

type Verdict = { readonly ok: boolean; readonly text: string }

const headerOf = (text: string) => text.trim().replace(/^x-service-signature:\s*/i, "")

/** `verifyWebhook` checks the signature before its age, so an old signature can be reported as correct. */
const judge = async (body: string, header: string, secret: string): Promise<Verdict> => {
  try {
    await verifyWebhook(body, headerOf(header), secret.trim())
    return { ok: true, text: "The signature is valid and recent." }
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    if (error.reason === "too_old" || error.reason === "in_the_future") {
      return { ok: false, text: `The signature matches the body and secret. ${error.message}` }
    }
    return { ok: false, text: error.message }
  }
}

export const VerifySignature = () => {
  const [verdict, setVerdict] = useState<Verdict>()
  const verify = useAction(async ({ body = "", header = "", secret = "" }: Fields) =>
    setVerdict(await judge(body, header, secret))
  )
  return (
    <>
      <Back to="webhooks" name="Webhooks" />
      <h1>Verify a signature</h1>
      <Card>
        <div class="stack">
          <Form submit="Verify" primary action={verify}>
            <Field
              label="Raw body"
              name="body"
              multiline={5}
              mono
              required
              hint="Exactly as received, before any JSON parsing."
            />
            <Field label="x-service-signature" name="header" mono required placeholder="t=1700000000,v1=…" />
            <Field
              label="Signing secret"
              name="secret"
              type="password"
              mono
              required
              placeholder="whsec_…"
              hint="The secret stays in this browser."
            />
          </Form>
          <div role="status">
            {verdict === undefined ? null : (
              <p class={verdict.ok ? "notice good" : "notice bad"}>
                <Icon name={verdict.ok ? "check" : "warning"} />
                <span>{verdict.text}</span>
              </p>
            )}
          </div>
        </div>
      </Card>
    </>
  )
}
