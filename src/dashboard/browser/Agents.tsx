// Agents: programs that pay x402 APIs from their own wallets, within caps.

import { useState } from "preact/hooks"
import { networks } from "../../domain/networks.ts"
import { integrationRoles, ownerRoles } from "../../domain/roleSets.ts"
import type { AgentListItem, AgentsPage, CreatedAgent } from "../api/agents/Api.ts"
import { type AgentFields, AgentForm } from "./AgentForm.tsx"
import { call, useAction } from "./api.ts"
import { CapMeter } from "./CapMeter.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { CodeBlock } from "./components/CodeBlock.tsx"
import { Secret } from "./components/Copy.tsx"
import { Dialog, ShownOnce } from "./components/Dialog.tsx"
import { Empty } from "./components/Empty.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Table } from "./components/Table.tsx"
import { short, usd } from "./format.ts"
import { May } from "./May.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useHref, useIsOpen, useSession } from "./session.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { usePackage } from "./usePackage.ts"

export const liveClosed = "Live payments are closed, so live agents cannot pay."

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
        { name: "Spent in 24 hours", cell: (agent) => <CapMeter agent={agent} /> },
        { name: "Left", class: "number", cell: ({ remaining }) => usd(remaining) },
        { name: "Per payment", class: "number", cell: ({ caps }) => usd(caps.perPayment) },
        { name: "Wallet", class: "mono soft", cell: ({ address }) => short(address, 6, 4) },
        { name: "Key", class: "mono soft", cell: ({ keyLastFour }) => `…${keyLastFour}` }
      ]}
    />
  )
}

const Created = ({ created, onClose }: { readonly created: CreatedAgent; readonly onClose: () => void }) => {
  const isOpen = useIsOpen()
  const command = useProxyCommand(created.key)
  return (
    <ShownOnce title={`Store the key of ${created.agent.name} now`} onClose={onClose}>
      <p>
        It is <strong>shown only once</strong>. With it, the agent pays within its caps.
      </p>
      <Secret value={created.key} what="the key" />
      <p>Run the agent proxy with it:</p>
      <Secret value={command} what="the command" />
      <p class="hint">{isOpen ? "Its wallet is empty: fund it on the agent's page." : liveClosed}</p>
    </ShownOnce>
  )
}

const NoAgents = () => {
  const { place } = useSession()
  const isOpen = useIsOpen()
  const command = useProxyCommand(`ak_${place.env}_…`)
  return (
    <Empty icon="agents" title={`No ${place.env} agents`}>
      {isOpen ? null : <p>{liveClosed}</p>}
      <p>
        An agent is a program that pays x402 APIs from its own wallet, within the caps that you set. Create an
        agent, then run its proxy on the machine where the agent runs:
      </p>
      <CodeBlock command text={command} what="the command" />
    </Empty>
  )
}

export const Agents = () => {
  const { api, place } = useSession()
  const isOpen = useIsOpen()
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
        <May roles={integrationRoles} live={ownerRoles}>
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
                Agents are disabled here. The operator can enable them by setting{" "}
                <code>{networks[place.env].wallets.setting}</code>, from which their wallets are derived.
              </p>
            )}
            {isOpen || agents.length === 0 ? null : <p class="notice">{liveClosed}</p>}
            <Card flush>{agents.length === 0 ? <NoAgents /> : <AgentTable agents={agents} />}</Card>
          </div>
        )}
      </Loaded>
      {open === "create" ? (
        <Dialog key="create" title={`Create a ${place.env} agent`} onClose={close}>
          <AgentForm submit="Create agent" action={create} onCancel={close} />
        </Dialog>
      ) : open === undefined ? null : (
        <Created key="created" created={open} onClose={close} />
      )}
    </>
  )
}
