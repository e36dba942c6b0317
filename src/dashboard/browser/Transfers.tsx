// Unmatched incoming transfers: each with the payments that it may be meant for, to be attached, refunded or handled.
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import type { LikelyReason, ShownTransferKind } from "../../domain/IncomingTransfer.ts"
import { moneyRoles } from "../../domain/roleSets.ts"
import type { TransferPage, TransfersPage, TransferView } from "../api/transfers/Api.ts"
import { call, useAction, usePage } from "./api.ts"
import { Button } from "./components/Button.tsx"
import { Code } from "./components/Copy.tsx"
import { Explorer } from "./components/External.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Ago } from "./components/Time.tsx"
import { short, usd } from "./format.ts"
import { Icon } from "./Icon.tsx"
import { useRefunds } from "./Refunds.tsx"
import { useMay } from "./roles.ts"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { type Continued, type ListPage, useContinued } from "./useContinued.ts"

const kindWords: Readonly<Record<ShownTransferKind, string>> = {
  late: "Arrived after the payment failed",
  short: "Less than the payment’s amount",
  over: "More than the payment’s amount",
  second: "The payer already paid this payment",
  unknown: "No payment matches this payer",
  denied:
    "The sender is on the operator’s deny list. While it is, the transfer settles a payment only if you attach it"
}

const reasonWords: Readonly<Record<LikelyReason, string>> = {
  reported: "A report contains this transaction",
  announced: "The payer announced this payment",
  address: "The buyer saw the address",
  paid_before: "The payer has paid you before",
  amount: "The amount is the same"
}

/** Creates a link for a payment's outstanding amount, to send to its buyer. */
const RequestRemainder = (props: {
  readonly transferId: string
  readonly paymentId: string
  readonly refCode: string
  readonly remainder: string
}) => {
  const { api } = useSession()
  const [link, setLink] = useState<{ readonly url: string; readonly amount: string | null }>()
  const ask = useAction(async () => {
    setLink(
      await call("POST", `${api}/payment-links/remainder`, {
        description: `Outstanding amount of ${props.refCode}`,
        amount: props.remainder,
        once: true,
        incomingTransferId: props.transferId,
        paymentId: props.paymentId
      })
    )
  })
  return link === undefined ? (
    <>
      <Button
        label={`Request ${usd(props.remainder)} by link, the outstanding amount of ${props.refCode}`}
        busy={ask.busy}
        onClick={() => void ask.run()}
      >
        Request {usd(props.remainder)} by link
      </Button>
      <Problem error={ask.error} />
    </>
  ) : (
    <span>
      Send the buyer this link for {usd(link.amount ?? props.remainder)}, and mark the transfer as handled. A
      transfer can have only one such link at a time.
      <br />
      <Code text={link.url} what="the link" />
    </span>
  )
}

/** The transfer's refunds, and the buttons for another one or for no refund at all. */
const Decision = (props: {
  readonly transfer: TransferView
  readonly refunds: Parameters<typeof useRefunds>[0]
  readonly onResolved: () => Promise<void>
}) => {
  const { transfer } = props
  const { api } = useSession()
  const may = useMay()(moneyRoles)
  const { button, dialogs, list } = useRefunds(props.refunds)
  const handle = useAction(async (fields: Fields) => {
    const note = (fields["note"] ?? "").trim()
    await call("POST", `${api}/incoming-transfers/${transfer.id}/handle`, { note })
    toast("Marked as handled")
    await props.onResolved()
  })
  return (
    <>
      {list}
      {transfer.handledAt === null && may ? (
        <Form submit="Mark as handled" action={handle} beside={button}>
          <Field label="Note" name="note" required hint="Say why nothing else needs to be done." />
        </Form>
      ) : (
        <div class="actions start">{button}</div>
      )}
      {dialogs}
    </>
  )
}

const Detail = (props: { readonly id: string; readonly onResolved: () => Promise<void> }) => {
  const { api } = useSession()
  const href = useHref()
  const may = useMay()(moneyRoles)
  const at = `${api}/incoming-transfers/${props.id}`
  const page = usePage<TransferPage>(at, 3_000)
  const attach = useAction(async (paymentId: string) => {
    await call("POST", `${at}/attach`, { paymentId })
    toast("Attached: the payment is settled")
    await props.onResolved()
  })
  return (
    <Loaded page={page}>
      {({ explorerUrl, likely, refunds, transfer }) => (
        <div class="stack">
          <Facts>
            <Fact name="From">
              <Code text={transfer.payer} shown={short(transfer.payer)} what="the payer's address" />
            </Fact>
            <Fact name="Transaction">
              <Explorer url={explorerUrl} path={`tx/${transfer.transactionId}`}>
                <span class="mono">{short(transfer.transactionId)}</span>
              </Explorer>
            </Fact>
          </Facts>
          {likely.length === 0 ? (
            <p class="soft">No similar payment found.</p>
          ) : (
            <ul class="list">
              {likely.map(({ isDropped, payment, reasons, remainder }) => {
                const fits =
                  transfer.handledAt === null &&
                  payment.amount === transfer.amount &&
                  (payment.status !== "settled" || isDropped)
                return (
                  <li key={payment.id}>
                    <span>
                      <a href={href("payments", payment.id)}>{payment.refCode}</a> {usd(payment.amount)}{" "}
                      <StatusBadge.PaymentStatus status={payment.status} />
                      <br />
                      <span class="soft">
                        {reasons.map((reason) => reasonWords[reason]).join(". ")}.
                        {isDropped ? " Its own transfer is no longer on the chain." : ""}
                      </span>
                    </span>
                    {fits && may ? (
                      <Button
                        kind="primary"
                        label={`Attach to ${payment.refCode}`}
                        busy={attach.busy}
                        onClick={() => void attach.run(payment.id)}
                      >
                        Attach
                      </Button>
                    ) : null}
                    {remainder === null || transfer.handledAt !== null || !may ? null : (
                      <RequestRemainder
                        transferId={transfer.id}
                        paymentId={payment.id}
                        refCode={payment.refCode}
                        remainder={remainder}
                      />
                    )}
                  </li>
                )
              })}
            </ul>
          )}
          <Problem error={attach.error} />
          <Decision
            transfer={transfer}
            refunds={{
              of: { incomingTransferId: transfer.id },
              part: refunds,
              explorerUrl,
              reload: page.reload
            }}
            onResolved={props.onResolved}
          />
        </div>
      )}
    </Loaded>
  )
}

const Row = (props: {
  readonly transfer: TransferView
  readonly isOpen: boolean
  readonly onToggle: (isOpen: boolean) => void
  readonly onResolved: () => Promise<void>
}) => {
  const { isOpen, transfer } = props
  return (
    <li class="alert open transfer">
      <details onToggle={({ currentTarget }) => props.onToggle(currentTarget.open)}>
        <summary>
          <strong>Unmatched transfer of {usd(transfer.amount)}</strong>
          <Icon name="down" />
          <span class="soft about">
            from <span class="mono">{short(transfer.payer)}</span>, <Ago at={transfer.at} />
          </span>
          {transfer.kind === null ? null : <span class="about">{kindWords[transfer.kind]}.</span>}
        </summary>
        {isOpen ? <Detail id={transfer.id} onResolved={props.onResolved} /> : null}
      </details>
    </li>
  )
}

/** A handled transfer, with the decision and its author. It can still be refunded. */
const HandledRow = ({ transfer }: { readonly transfer: TransferView }) => {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <li class="alert">
      <div>
        <p class="event">
          <strong>Transfer of {usd(transfer.amount)}</strong>
          <span class="soft">
            from <span class="mono">{short(transfer.payer)}</span>, <Ago at={transfer.at} />
          </span>
        </p>
        <p class="break">
          {transfer.paymentId === null ? "Marked as handled" : "Attached to a payment"} by{" "}
          {transfer.handledBy}
          {transfer.note === null || transfer.note === "" ? "." : `: ${transfer.note}`}
        </p>
        {transfer.paymentId === null ? (
          <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
            <summary>Details and refunds</summary>
            {isOpen ? <Detail id={transfer.id} onResolved={() => Promise.resolve()} /> : null}
          </details>
        ) : (
          <PaymentLink id={transfer.paymentId} />
        )}
      </div>
    </li>
  )
}

const PaymentLink = ({ id }: { readonly id: string }) => <a href={useHref()("payments", id)}>View payment</a>

/** A row of the list, with the time by which it is sorted. */
export interface Entry {
  readonly at: string
  readonly row: ComponentChildren
}

/** Rows, and how to load those that follow. */
export interface Entries {
  readonly entries: ReadonlyArray<Entry>
  readonly hasMore: boolean
  readonly more: Continued<TransferView>["more"]
}

export interface TransferEntries {
  readonly open: Entries
  readonly decided: Entries
}

const none: ListPage<TransferView> = { items: [], hasMore: false }

/** Transfers of one status, page by page. */
const useTransfers = (status: "open" | "handled") => {
  const { api } = useSession()
  const path = `${api}/incoming-transfers?status=${status}`
  const { data, reload } = usePage<TransfersPage>(path, 5_000)
  const pageOf = ({ hasMore, transfers }: TransfersPage): ListPage<TransferView> => ({
    items: transfers,
    hasMore
  })
  const list = useContinued(path, data === undefined ? none : pageOf(data), async (id) =>
    pageOf(await call<TransfersPage>("GET", `${path}&startingAfter=${id}`))
  )
  return { list, reload }
}

/**
 * Incoming transfers as rows: unmatched ones, and those that people have handled. An expanded row stays until it is
 * collapsed, even if its refund resolves it.
 */
export const useTransferEntries = (): TransferEntries => {
  const { list: opened, reload } = useTransfers("open")
  const { list: handled } = useTransfers("handled")
  const [expanded, setExpanded] = useState<ReadonlyArray<TransferView>>([])
  const transfers = opened.items.filter(({ kind }) => kind !== null)
  const all = [
    ...transfers,
    ...expanded.filter(({ id }) => !transfers.some((transfer) => transfer.id === id))
  ]
  const collapse = (id: string) => setExpanded((before) => before.filter((transfer) => transfer.id !== id))
  return {
    open: {
      hasMore: opened.hasMore,
      more: opened.more,
      entries: all.map((transfer) => ({
        at: transfer.at,
        row: (
          <Row
            key={transfer.id}
            transfer={transfer}
            isOpen={expanded.some(({ id }) => id === transfer.id)}
            onToggle={(isOpen) => {
              if (isOpen)
                setExpanded((before) => [...before.filter(({ id }) => id !== transfer.id), transfer])
              else collapse(transfer.id)
            }}
            onResolved={async () => {
              collapse(transfer.id)
              opened.forget(transfer.id)
              await reload()
            }}
          />
        )
      }))
    },
    decided: {
      hasMore: handled.hasMore,
      more: handled.more,
      entries: handled.items
        .filter(({ id }) => !all.some((transfer) => transfer.id === id))
        .map((transfer) => ({ at: transfer.at, row: <HandledRow key={transfer.id} transfer={transfer} /> }))
    }
  }
}
