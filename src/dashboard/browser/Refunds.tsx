// The refunds of a payment or of an incoming transfer, and the form for another refund.
import { Fragment } from "preact"
import { useState } from "preact/hooks"
import { moneyRoles } from "../../domain/roleSets.ts"
import type { RefundView } from "../../payments/refunds/Api.ts"
import type { RefundsPart } from "../api/refunds/Api.ts"
import { call, useAction } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Confirm } from "./components/Dialog.tsx"
import { Explorer } from "./components/External.tsx"
import { Time } from "./components/Time.tsx"
import { short, usd } from "./format.ts"
import { isCovered, type Refunded, RefundForm } from "./RefundForm.tsx"
import { useMay } from "./roles.ts"
import { SendRefund } from "./SendRefund.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"

const Row = (props: {
  readonly refund: RefundView
  readonly explorerUrl: string | null
  readonly onSend: () => void
  readonly onCancel: () => void
}) => {
  const { explorerUrl, refund } = props
  const may = useMay()(moneyRoles)
  const isDropped = refund.status === "proven" && refund.droppedAt !== undefined
  return (
    <li>
      <span>
        <strong>{usd(refund.amount)}</strong> to <span class="mono">{short(refund.recipient)}</span>
        <br />
        <span class="soft">
          <Time at={refund.provenAt ?? refund.createdAt} exact />{" "}
          {refund.transactionId === undefined ? null : (
            <Explorer url={explorerUrl} path={`tx/${refund.transactionId}`} />
          )}
          {isDropped ? " The chain no longer shows it." : ""}
        </span>
      </span>
      <StatusBadge.Refund status={refund.status} />
      {may && (refund.status === "pending" || isDropped) ? (
        <span class="row-actions">
          {refund.status === "pending" ? (
            <Button label={`Send the refund of ${usd(refund.amount)}`} onClick={props.onSend}>
              Send
            </Button>
          ) : null}
          <Button kind="danger" label={`Cancel the refund of ${usd(refund.amount)}`} onClick={props.onCancel}>
            Cancel
          </Button>
        </span>
      ) : null}
    </li>
  )
}

interface Props {
  readonly of: Refunded
  readonly part: RefundsPart
  readonly explorerUrl: string | null
  readonly reload: () => Promise<void>
}

/** The list, the button for another refund, and the dialogs, for a page to place. */
export const useRefunds = (props: Props) => {
  const { explorerUrl, part, reload } = props
  const may = useMay()(moneyRoles)
  const { api } = useSession()
  const [asking, setAsking] = useState(false)
  const [sending, setSending] = useState<RefundView>()
  const [cancelling, setCancelling] = useState<RefundView>()
  const cancel = useAction(async ({ id }: RefundView) => {
    await call("POST", `${api}/refunds/${id}/cancel`)
    setCancelling(undefined)
    toast("Refund cancelled")
    await reload()
  }, cancelling)
  const button =
    part.payer === null || !may ? null : isCovered(part) ? (
      <Button kind="quiet" onClick={() => setAsking(true)}>
        Refund more
      </Button>
    ) : (
      <Button onClick={() => setAsking(true)}>Refund</Button>
    )
  const list =
    part.refunds.length === 0 ? null : (
      <>
        <ul class="list">
          {part.refunds.map((refund) => (
            <Row
              key={refund.id}
              refund={refund}
              explorerUrl={explorerUrl}
              onSend={() => setSending(refund)}
              onCancel={() => setCancelling(refund)}
            />
          ))}
        </ul>
        {part.hasMore ? (
          <p class="soft">
            These are the newest {part.refunds.length}; the refunds export contains the rest.
          </p>
        ) : null}
      </>
    )
  const dialogs = (
    // The key keeps an open dialog when the list appears.
    <Fragment key="dialogs">
      {asking && part.payer !== null ? (
        <RefundForm
          of={props.of}
          part={part}
          payer={part.payer}
          onClose={() => setAsking(false)}
          onCreated={(refund) => {
            setAsking(false)
            setSending(refund)
            void reload()
          }}
        />
      ) : null}
      {sending === undefined ? null : (
        <SendRefund
          refund={sending}
          from={part.from}
          onChange={reload}
          onClose={() => {
            setSending(undefined)
            void reload()
          }}
        />
      )}
      {cancelling === undefined ? null : (
        <Confirm
          title={`Cancel the refund of ${usd(cancelling.amount)}?`}
          action="Cancel refund"
          danger
          busy={cancel.busy}
          error={cancel.error}
          onConfirm={() => void cancel.run(cancelling)}
          onClose={() => setCancelling(undefined)}
        >
          <p>
            Cancelling does not return money that you already sent. If you sent it, record it as a new refund.
          </p>
        </Confirm>
      )}
    </Fragment>
  )
  return { button, list, dialogs }
}

export const Refunds = (props: Props) => {
  const { button, dialogs, list } = useRefunds(props)
  return props.part.payer === null && list === null ? null : (
    <Card title="Refunds" action={button}>
      {list ?? <p class="soft">No refunds yet.</p>}
      {dialogs}
    </Card>
  )
}
