// Agents: programs that pay x402 APIs from wallets of their own, within caps.

import { useState } from "preact/hooks"
import { isOpen } from "../../domain/networks.ts"
import { developers, owners } from "../../domain/roleSets.ts"
import type { AgentListItem, AgentsPage, CreatedAgent } from "../api/agents/Api.ts"
import { type AgentFields, AgentForm } from "./AgentForm.tsx"
import { call, useAction } from "./api.ts"
import { CapMeter } from "./CapMeter.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Secret } from "./components/Copy.tsx"
import { Dialog } from "./components/Dialog.tsx"
import { Empty, Loaded } from "./components/Loaded.tsx"
import { Table } from "./components/Table.tsx"
import { short, usd } from "./format.ts"
import { May } from "./May.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useSession } from "./session.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { usePackage } from "./usePackage.ts"

export const mainnetGated = "Mainnet is gated: a live agent is refused until it opens."

const useProxyCommand = (key: string) =>
  `SERVICE_AGENT_KEY=${key} SERVICE_BASE_URL=${location.origin} npx --yes ${usePackage("agent-proxy.tgz")}`

const AgentTable = ({ agents }: { readonly agents: ReadonlyArray<AgentListItem> }) => {
  const href = useHref()
  return (
    <Table
      rows={agents}
      keyOf={({ id }) => id}
      classOf={({ status }) => (status === "revoked" ? "revoked" : undefined)}
      columns={[
        {
          name: "Agent",
          cell: ({ id, name }) => (
            <a class="row-link break" href={href("agents", id)}>
              {name}
            </a>
          )
        },
        { name: "Status", cell: ({ status }) => <StatusBadge.Agent status={status} /> },
        { name: "Last 24 hours", cell: (agent) => <CapMeter agent={agent} /> },
        { name: "Left", class: "number", cell: ({ remaining }) => usd(remaining) },
        { name: "Per payment", class: "number", cell: ({ caps }) => usd(caps.perPayment) },
        { name: "Wallet", class: "mono soft", cell: ({ address }) => short(address, 6, 4) },
        { name: "Key", class: "mono soft", cell: ({ keyLastFour }) => `…${keyLastFour}` }
      ]}
    />
  )
}

const Created = ({ created, onClose }: { readonly created: CreatedAgent; readonly onClose: () => void }) => {
  const { place } = useSession()
  const command = useProxyCommand(created.key)
  return (
    <Dialog title={`Store the key of ${created.agent.name} now`} onClose={onClose}>
      <div class="stack">
        <p>
          It is <strong>shown this once</strong>. It pays within the caps, and nothing else.
        </p>
        <Secret value={created.key} what="the key" />
        <p>Run the agent proxy with it:</p>
        <Secret value={command} what="the command" />
        <p class="hint">
          {isOpen(place.env) ? "Its wallet is empty: fund it on the agent's page." : mainnetGated}
        </p>
        <div class="actions">
          <Button kind="primary" onClick={onClose}>
            I have stored it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

const NoAgents = () => {
  const { place } = useSession()
  const command = useProxyCommand(`ak_${place.env}_…`)
  return (
    <Empty icon="agents" title={`No ${place.env} agents`}>
      <p>
        An agent is a program that pays x402 APIs from a wallet of its own, never beyond the caps that you
        set. Create one, then run its proxy where it works:
      </p>
      <p class="mono break command">{command}</p>
    </Empty>
  )
}

export const Agents = () => {
  const { api, place } = useSession()
  const page = useMerchantPage<AgentsPage>("/agents", { everyMillis: 5_000 })
  const [open, setOpen] = useState<"create" | CreatedAgent>()
  const close = () => setOpen(undefined)
  const create = useAction(async (fields: AgentFields) => {
    setOpen(await call<CreatedAgent>("POST", `${api}/agents`, fields))
    await page.reload()
  }, open)
  return (
    <>
      <div class="head">
        <h1>Agents</h1>
        <May roles={developers} live={owners}>
          <Button
            kind="primary"
            icon="plus"
            disabled={page.data?.configured !== true}
            onClick={() => setOpen("create")}
          >
            Create agent
          </Button>
        </May>
      </div>
      <Loaded page={page}>
        {({ configured, agents }) => (
          <div class="stack">
            {configured ? null : (
              <p class="notice">
                Agents are off here: the operator sets <code>AGENT_WALLET_MNEMONIC</code>, from which their
                wallets are derived.
              </p>
            )}
            {isOpen(place.env) ? null : <p class="notice">{mainnetGated}</p>}
            <Card flush>{agents.length === 0 ? <NoAgents /> : <AgentTable agents={agents} />}</Card>
          </div>
        )}
      </Loaded>
      {open === "create" ? (
        <Dialog key="create" title={`Create a ${place.env} agent`} onClose={close}>
          <AgentForm
            action="Create agent"
            busy={create.busy}
            error={create.error}
            onSubmit={(fields) => void create.run(fields)}
            onCancel={close}
          />
        </Dialog>
      ) : open === undefined ? null : (
        <Created key="created" created={open} onClose={close} />
      )}
    </>
  )
}
