// An agent's signed payments with their outcome, newest first.
import type { AgentPage } from "../api/agents/Api.ts"
import { Empty } from "./components/Empty.tsx"
import { Explorer } from "./components/External.tsx"
import { Table } from "./components/Table.tsx"
import { Time } from "./components/Time.tsx"
import { short, usd } from "./format.ts"
import { StatusBadge } from "./StatusBadge.tsx"

export const AgentPayments = (props: {
  readonly payments: AgentPage["payments"]
  readonly explorerUrl: string | null
}) =>
  props.payments.length === 0 ? (
    <Empty icon="payments" title="No payments yet">
      <p>Payments that the agent signs appear here, with their transactions.</p>
    </Empty>
  ) : (
    <Table
      rows={props.payments}
      keyOf={({ id }) => id}
      columns={[
        { name: "Resource", cell: ({ resource }) => <span class="break">{resource}</span> },
        { name: "Status", cell: ({ status }) => <StatusBadge.AgentPayment status={status} /> },
        { name: "Amount", class: "number strong", cell: ({ amount }) => usd(amount) },
        {
          name: "Payee",
          class: "mono soft",
          cell: ({ payTo }) => (
            <span class="nowrap" title={payTo}>
              {short(payTo, 6, 4)}
            </span>
          )
        },
        {
          name: "Transaction",
          class: "mono soft",
          cell: ({ transactionId }) =>
            transactionId === undefined ? (
              "–"
            ) : (
              <Explorer url={props.explorerUrl} path={`tx/${transactionId}`}>
                {short(transactionId, 6, 4)}
              </Explorer>
            )
        },
        { name: "Signed", class: "soft nowrap", cell: ({ createdAt }) => <Time at={createdAt} /> }
      ]}
    />
  )
