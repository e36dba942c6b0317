// What a refund gives back, and to whom.
import { useRef, useState } from "preact/hooks"
import type { RefundView } from "../../payments/refunds/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Field, fieldsOf } from "./components/Field.tsx"
import { Problem } from "./components/Problem.tsx"
import { usd } from "./format.ts"
import { useSession } from "./session.ts"

export type Refunded = { readonly paymentId: string } | { readonly incomingTransferId: string }

export const RefundForm = (props: {
  readonly of: Refunded
  readonly left: string
  readonly payer: string
  readonly onCreated: (refund: RefundView) => void
  readonly onClose: () => void
}) => {
  const { api } = useSession()
  const [exceeds, setExceeds] = useState(false)
  const asked = useRef<{ readonly terms: string; readonly id: string | undefined }>(undefined)
  const create = useAction(async (fields: Readonly<Record<string, string>>) => {
    const { amount = "", recipient = "", reason = "" } = fields
    const terms = {
      ...props.of,
      amount: amount.trim(),
      ...(recipient.trim() === "" ? {} : { recipient: recipient.trim() }),
      ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
      ...(fields["beyondPaid"] === "on" ? { beyondPaid: true } : {})
    }
    const text = JSON.stringify(terms)
    // The same once more, where no answer came, is the same refund. Plain http has no `randomUUID`.
    if (asked.current?.terms !== text) asked.current = { terms: text, id: crypto.randomUUID?.() }
    const { id } = asked.current
    const answer = await call<{ readonly refund: RefundView }>("POST", `${api}/refunds`, {
      ...terms,
      ...(id === undefined ? {} : { id })
    }).catch((error) => {
      if (error?.code === "REFUND_EXCEEDS_PAID") setExceeds(true)
      throw error
    })
    props.onCreated(answer.refund)
  })
  const { error } = create
  const isTooMuch = error?.code === "REFUND_EXCEEDS_PAID"
  return (
    <Dialog title="Refund" onClose={props.onClose}>
      <form class="stack" onSubmit={(event) => void create.run(fieldsOf(event))}>
        <p class="soft">
          You send the USDC from your own wallet. The refund counts when the chain shows it; the payment stays
          settled.
        </p>
        <Field
          label="Amount in USD"
          name="amount"
          required
          mono
          value={props.left === "0.00" ? "" : props.left}
          hint={`${usd(props.left)} is left of what was paid.`}
          error={isTooMuch ? `More than is left of what was paid: ${usd(props.left)}.` : error?.of("amount")}
        />
        {exceeds ? (
          <label class="check">
            <input type="checkbox" name="beyondPaid" /> Refund more than was paid
          </label>
        ) : null}
        <Field
          label="Send to"
          name="recipient"
          mono
          value={props.payer}
          hint="The address that paid. An exchange’s address may not reach the buyer: ask where to send it."
          error={error?.of("recipient")}
        />
        <Field
          label="Reason (optional)"
          name="reason"
          hint="For your books; the buyer does not see it."
          error={error?.of("reason")}
        />
        <Problem error={error} fields={isTooMuch ? ["amount"] : ["amount", "recipient", "reason"]} />
        <div class="actions">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button kind="primary" submit busy={create.busy}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
