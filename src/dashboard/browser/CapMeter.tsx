// The spent part of an agent's daily cap.
import type { AgentListItem } from "../api/agents/Api.ts"
import { usd } from "./format.ts"

export const CapMeter = ({ agent }: { readonly agent: AgentListItem }) => (
  <span class="cap">
    <meter
      min={0}
      max={Number(agent.caps.perDay)}
      value={Number(agent.spent)}
      aria-label={`Spent by ${agent.name} in the last 24 hours`}
    />
    <span>
      <strong>{usd(agent.spent)}</strong> of {usd(agent.caps.perDay)}
    </span>
  </span>
)
