// One agent: what it may spend, what it has spent and signed, and its wallet.

import { useCallback, useEffect, useState } from "preact/hooks"
import { hasFaucet, networks } from "../../domain/networks.ts"
import { integrationRoles, ownerRoles } from "../../domain/roleSets.ts"
import type { AgentBalance, AgentGrant, AgentPage } from "../api/agents/Api.ts"
import { type AgentFields, AgentForm } from "./AgentForm.tsx"
import { AgentPayments } from "./AgentPayments.tsx"
import { liveClosed } from "./Agents.tsx"
import { ApiError } from "./ApiError.ts"
import { call, useAction } from "./api.ts"
import { CapMeter } from "./CapMeter.tsx"
import { Back } from "./components/Back.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Code } from "./components/Copy.tsx"
import { Confirm, Dialog } from "./components/Dialog.tsx"
import { Explorer } from "./components/External.tsx"
import { Fact, Facts } from "./components/Facts.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Time } from "./components/Time.tsx"
import { short, usd } from "./format.ts"
import { May } from "./May.tsx"
import { StatusBadge } from "./StatusBadge.tsx"
import { useIsOpen, useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import type { Edits } from "./useEdits.ts"
import { useMerchantPage } from "./useMerchantPage.ts"

type Shown = AgentPage["agent"]

const List = ({ all, any }: { readonly all: ReadonlyArray<string> | null; readonly any: string }) =>
  all === null ? (
    <span>{any}</span>
  ) : (
    <ul class="mono break">
      {all.map((one) => (
        <li key={one}>{one}</li>
      ))}
    </ul>
  )

/** Read from the chain after the page has loaded, and when `lastUsed` changes; null if no node responds. */
const useBalance = (path: string, lastUsed: string | undefined) => {
  const [usdc, setUsdc] = useState<string | null>()
  const read = useCallback(async () => {
    try {
      setUsdc((await call<AgentBalance>("GET", `${path}/balance`)).usdc)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setUsdc(null)
    }
  }, [path])
  useEffect(() => void read(), [read, lastUsed])
  return { usdc, read }
}

const Details = ({ data, path }: { readonly data: AgentPage; readonly path: string }) => {
  const { agent, explorerUrl } = data
  const { place } = useSession()
  const isOpen = useIsOpen()
  const balance = useBalance(path, data.payments.find(({ status }) => status === "used")?.id)
  const fund = useAction(async () => {
    const { usdc } = await call<AgentGrant>("POST", `${path}/fund`)
    toast(`Sent ${usd(usdc)} to the wallet`)
    await balance.read()
  })
  return (
    <div class="columns">
      <div class="stack large">
        <Card title="Last 24 hours">
          <CapMeter agent={agent} />
          <p class="soft">
            {usd(agent.remaining)} left. A signed payment counts until the chain shows that it was used or can
            no longer be used.
          </p>
        </Card>
        <Card title="Wallet">
          <div class="stack">
            <p>
              <Code text={agent.address} shown={short(agent.address)} what="the wallet's address" />{" "}
              <Explorer url={explorerUrl} path={`address/${agent.address}`} />
            </p>
            <p>
              Balance:{" "}
              <strong>
                {balance.usdc === undefined
                  ? "…"
                  : balance.usdc === null
                    ? "unavailable"
                    : `${usd(balance.usdc)} USDC`}
              </strong>
            </p>
            <Problem error={fund.error} />
            {!isOpen ? (
              <p class="notice">{liveClosed}</p>
            ) : agent.status === "revoked" ? null : !hasFaucet(place.env) ? (
              <p class="hint">Send USDC on {networks[place.env].name} to this address.</p>
            ) : (
              <May roles={integrationRoles}>
                <div class="actions start">
                  <Button busy={fund.busy} onClick={() => void fund.run()}>
                    Fund from the faucet
                  </Button>
                </div>
              </May>
            )}
          </div>
        </Card>
      </div>
      <Card title="Permissions">
        <Facts>
          <Fact name="Per payment">at most {usd(agent.caps.perPayment)}</Fact>
          <Fact name="Per 24 hours">at most {usd(agent.caps.perDay)}</Fact>
          <Fact name="Allowed hosts">
            <List all={agent.allowedHosts} any="Any" />
          </Fact>
          <Fact name="Allowed payees">
            <List
              all={agent.allowedPayees}
              any={agent.allowedHosts === null ? "Any" : "The first payee at each host"}
            />
          </Fact>
          <Fact name="Key">
            <span class="mono">
              ak_{place.env}_…{agent.keyLastFour}
            </span>
          </Fact>
          <Fact name="Created">
            <Time at={agent.createdAt} />
          </Fact>
        </Facts>
      </Card>
    </div>
  )
}

type Open = "change" | "pause" | "resume" | "revoke"

const Actions = (props: {
  readonly agent: Shown
  readonly path: string
  readonly reload: () => Promise<void>
}) => {
  const { agent, path } = props
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const done = async (text: string) => {
    close()
    toast(text)
    await props.reload()
  }
  const change = useAction(async ({ name }: AgentFields, edits: Edits<AgentFields>) => {
    await call<void>("PATCH", path, edits)
    await done(`Changed ${name}`)
  }, open)
  const act = useAction(async (action: "pause" | "resume" | "revoke", word: string) => {
    await call<void>("POST", `${path}/${action}`)
    await done(`${word} ${agent.name}`)
  }, open)
  const confirm = { busy: act.busy, error: act.error, onClose: close }
  const show = (what: Open, text: string, kind: "plain" | "danger" = "plain") => (
    <Button kind={kind} onClick={() => setOpen(what)}>
      {text}
    </Button>
  )
  if (agent.status === "revoked") return null
  return (
    <>
      <div class="actions start">
        <May roles={integrationRoles} live={ownerRoles}>
          {show("change", "Change")}
          {agent.status === "active" ? null : show("resume", "Resume")}
        </May>
        <May roles={integrationRoles}>
          {agent.status === "active" ? show("pause", "Pause") : null}
          {show("revoke", "Revoke", "danger")}
        </May>
      </div>
      {open === "change" ? (
        <Dialog key="change" title={`Change ${agent.name}`} onClose={close}>
          <AgentForm
            value={{
              name: agent.name,
              capPerPayment: agent.caps.perPayment,
              capPerDay: agent.caps.perDay,
              allowedHosts: agent.allowedHosts,
              allowedPayees: agent.allowedPayees
            }}
            submit="Save"
            action={change}
            onCancel={close}
          />
        </Dialog>
      ) : null}
      {open === "pause" ? (
        <Confirm
          key="pause"
          title={`Pause ${agent.name}?`}
          action="Pause agent"
          {...confirm}
          onConfirm={() => void act.run("pause", "Paused")}
        >
          <p>
            It signs no payments until you resume it. Payments already signed stay valid until they expire, at
            most 10 minutes.
          </p>
        </Confirm>
      ) : null}
      {open === "resume" ? (
        <Confirm
          key="resume"
          title={`Resume ${agent.name}?`}
          action="Resume agent"
          {...confirm}
          onConfirm={() => void act.run("resume", "Resumed")}
        >
          <p>It signs payments again, within the same caps.</p>
        </Confirm>
      ) : null}
      {open === "revoke" ? (
        <Confirm
          key="revoke"
          title={`Revoke ${agent.name}?`}
          action="Revoke agent"
          danger
          {...confirm}
          onConfirm={() => void act.run("revoke", "Revoked")}
        >
          <p>
            Its key stops working at once, and you cannot restore it.{" "}
            <strong>Payments already signed stay valid until they expire, at most 10 minutes.</strong> The
            balance stays in its wallet.
          </p>
        </Confirm>
      ) : null}
    </>
  )
}

export const Agent = () => {
  const { api, place } = useSession()
  const page = useMerchantPage<AgentPage>(`/agents/${place.id ?? ""}`)
  const path = `${api}/agents/${place.id ?? ""}`
  return (
    <>
      <Back to="agents" name="Agents" />
      <h1 class="break">{page.data?.agent.name ?? "Agent"}</h1>
      <Loaded page={page}>
        {(data) => (
          <div class="stack large">
            <header class="agent-head">
              <StatusBadge.Agent status={data.agent.status} />
              <Actions agent={data.agent} path={path} reload={page.reload} />
            </header>
            <Details data={data} path={path} />
            <Card title="Payments" flush>
              <AgentPayments payments={data.payments} explorerUrl={data.explorerUrl} />
            </Card>
          </div>
        )}
      </Loaded>
    </>
  )
}
