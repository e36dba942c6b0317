// What an agent signed, newest first, and what became of it.
import type { AgentPage } from "../api/agents/Api.ts"
import { short, usd } from "./format.ts"
import { Explorer } from "./parts/External.tsx"
import { Empty } from "./parts/Loaded.tsx"
import { Time } from "./parts/Time.tsx"
import { StatusBadge } from "./StatusBadge.tsx"

export const AgentPayments = (props: {
  readonly payments: AgentPage["payments"]
  readonly explorerUrl: string | null
}) =>
  props.payments.length === 0 ? (
    <Empty icon="payments" title="No payments yet">
      <p>Payments the agent signs appear here, with their transactions once they are on chain.</p>
    </Empty>
  ) : (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Amount
          </th>
          <th scope="col">Payee</th>
          <th scope="col">Transaction</th>
          <th scope="col">Signed</th>
        </tr>
      </thead>
      <tbody>
        {props.payments.map((one) => (
          <tr key={one.id}>
            <td data-label="Resource">
              <span class="break">{one.resource}</span>
            </td>
            <td data-label="Status">
              <StatusBadge.AgentPayment status={one.status} />
            </td>
            <td data-label="Amount" class="number strong">
              {usd(one.amount)}
            </td>
            <td data-label="Payee" class="mono soft">
              <span class="nowrap" title={one.payTo}>
                {short(one.payTo, 6, 4)}
              </span>
            </td>
            <td data-label="Transaction" class="mono soft">
              {one.transactionId === undefined ? (
                "–"
              ) : (
                <Explorer url={props.explorerUrl} path={`tx/${one.transactionId}`}>
                  {short(one.transactionId, 6, 4)}
                </Explorer>
              )}
            </td>
            <td data-label="Signed" class="soft nowrap">
              <Time at={one.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
