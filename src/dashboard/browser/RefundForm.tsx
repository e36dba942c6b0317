// The form that creates a refund: amount and recipient.
import { useRef, useState } from "preact/hooks"
import type { RefundView } from "../../payments/refunds/Api.ts"
import type { RefundsPart } from "../api/refunds/Api.ts"
import { call, useAction } from "./api.ts"
import { Check } from "./components/Choices.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { usd } from "./format.ts"
import { useSession } from "./session.ts"

/** Proven and pending refunds cover what was paid: another one exceeds it. */
export const isCovered = ({ left }: RefundsPart): boolean => left === "0.00"

export type Refunded = { readonly paymentId: string } | { readonly incomingTransferId: string }

export const RefundForm = (props: {
  readonly of: Refunded
  readonly part: RefundsPart
  readonly payer: string
  readonly onCreated: (refund: RefundView) => void
  readonly onClose: () => void
}) => {
  const { api } = useSession()
  const { left } = props.part
  const isMore = isCovered(props.part)
  const [exceeds, setExceeds] = useState(isMore)
  const lastRequest = useRef<{ readonly terms: string; readonly id: string | undefined }>(undefined)
  const create = useAction(async (fields: Fields) => {
    const { amount = "", recipient = "", reason = "" } = fields
    const terms = {
      ...props.of,
      amount: amount.trim(),
      ...(recipient.trim() === "" ? {} : { recipient: recipient.trim() }),
      ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
      ...(fields["beyondPaid"] === "on" ? { beyondPaid: true } : {})
    }
    const text = JSON.stringify(terms)
    // Without a response, sending the same terms again is the same refund. Plain http has no `randomUUID`.
    if (lastRequest.current?.terms !== text) lastRequest.current = { terms: text, id: crypto.randomUUID?.() }
    const { id } = lastRequest.current
    const answer = await call<{ readonly refund: RefundView }>("POST", `${api}/refunds`, {
      ...terms,
      ...(id === undefined ? {} : { id })
    }).catch((error) => {
      if (error?.code === "REFUND_EXCEEDS_PAID") setExceeds(true)
      throw error
    })
    props.onCreated(answer.refund)
  })
  const isTooMuch = create.error?.code === "REFUND_EXCEEDS_PAID"
  return (
    <Dialog title={isMore ? "Refund more than was paid" : "Refund"} onClose={props.onClose}>
      <Form submit="Continue" action={create} onCancel={props.onClose}>
        <p class="soft">
          You send the USDC from your own wallet. The refund is confirmed once the service has verified the
          transfer. The payment stays settled.
        </p>
        <Field
          label="Amount in USD"
          name="amount"
          required
          mono
          value={isMore ? "" : left}
          hint={isMore ? "Refunds already cover the full amount." : `${usd(left)} can be refunded.`}
          error={
            !isTooMuch
              ? undefined
              : isMore
                ? "Tick the box to refund more."
                : `The most you can refund is ${usd(left)}.`
          }
        />
        {exceeds ? <Check name="beyondPaid" label="Refund more than was paid" /> : null}
        <Field
          label="Send to"
          name="recipient"
          mono
          multiline={2}
          value={props.payer}
          hint="The address that paid. If it belongs to an exchange, ask the buyer for another address."
        />
        <Field label="Reason (optional)" name="reason" hint="For your books; the buyer does not see it." />
      </Form>
    </Dialog>
  )
}
