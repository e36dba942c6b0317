// `agent create`, `list`, `update`, `pause`, `resume`, `revoke` and `fund`.

import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Faucet } from "../../chain/faucet/Faucet.ts"
import { type Agent, AgentId, AllowedHost } from "../../domain/Agent.ts"
import type { MerchantId } from "../../domain/Merchant.ts"
import { type AtomicUsdc, formatUsd, UsdAmount } from "../../domain/Money.ts"
import { envs, hasFaucet, networks } from "../../domain/networks.ts"
import { AuditLog, operator } from "../../merchants/audit/AuditLog.ts"
import { Networks } from "../../platform/Networks.ts"
import { Agents } from "../../x402/agents/Agents.ts"
import { agentChanged, agentCreated, agentRevoked } from "../../x402/agents/agentChanges.ts"
import { CommandFailed } from "./CommandFailed.ts"
import { env, json, merchantId, Name, print, ReceiverAddress } from "./flags.ts"
import { requireMerchant } from "./requireMerchant.ts"

const agentId = Flag.String("agent").pipe(
  Flag.withDescription("The agent's id, from `agent list`"),
  Flag.withSchema(AgentId)
)
const usdFlag = (name: string, what: string) =>
  Flag.String(name).pipe(Flag.withDescription(what), Flag.withSchema(UsdAmount))
const hosts = Flag.String("allow-host").pipe(
  Flag.withDescription("A host or host:port the agent may pay; repeatable. Any host when omitted"),
  Flag.withSchema(AllowedHost),
  Flag.atLeast(0)
)
const payees = Flag.String("allow-payee").pipe(
  Flag.withDescription(
    "An address the agent may pay; repeatable. When omitted: any or, with --allow-host, the first payee at each host"
  ),
  Flag.withSchema(ReceiverAddress),
  Flag.atLeast(0)
)

/** Without flags the list is null, which allows any. */
const orAny = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> | null => (all.length === 0 ? null : all)

const view = (agent: Agent) => ({
  id: agent.id,
  name: agent.name,
  env: agent.env,
  status: agent.status,
  address: agent.address,
  caps: { perPayment: formatUsd(agent.capPerPayment), perDay: formatUsd(agent.capPerDay) },
  allowedHosts: agent.allowedHosts,
  allowedPayees: agent.allowedPayees,
  keyLastFour: agent.keyLastFour
})

const describe = (agent: Agent) =>
  `${agent.id}  ${agent.name}  ${agent.env}  ${agent.status}  ${agent.address}  ${formatUsd(agent.capPerPayment)} a payment, ${formatUsd(agent.capPerDay)} a day  key …${agent.keyLastFour}`

const unknown = (merchant: string, id: string) =>
  new CommandFailed({
    message: `This merchant has no agent ${id}, or the agent is revoked. List them: bun run cli agent list --merchant ${merchant} --env …`
  })

const create = Command.make(
  "create",
  {
    merchant: merchantId,
    env,
    name: Flag.String("name").pipe(
      Flag.withDescription("A display name, 1 to 100 characters"),
      Flag.withSchema(Name)
    ),
    capPerPayment: usdFlag("cap-per-payment", "Cap per payment, in USD"),
    capPerDay: usdFlag("cap-per-day", "Cap per 24 hours, in USD"),
    hosts,
    payees,
    json
  },
  Effect.fn("agent create")(function* (input) {
    yield* requireMerchant(input.merchant)
    const provisioning = (yield* Agents).provision({
      merchantId: input.merchant,
      env: input.env,
      name: input.name,
      capPerPayment: input.capPerPayment,
      capPerDay: input.capPerDay,
      allowedHosts: orAny(input.hosts),
      allowedPayees: orAny(input.payees)
    })
    const { agent, key } = yield* (yield* AuditLog).recording(
      input.merchant,
      operator,
      provisioning,
      ({ agent }) => Option.some(agentCreated(agent))
    )
    yield* print(input.json, { agent: view(agent), key }, [
      `Created the agent ${agent.name} (${agent.id}). Its wallet: ${agent.address}`,
      "Its key, shown only once. Pass it to the agent's proxy as SERVICE_AGENT_KEY:",
      key,
      hasFaucet(agent.env)
        ? `Fund it: bun run cli agent fund --merchant ${agent.merchantId} --agent ${agent.id}`
        : (yield* Networks).executes(agent.env)
          ? `Fund it: send USDC on ${networks[agent.env].name} to its wallet.`
          : "Mainnet is closed, so live agents cannot pay."
    ])
  })
).pipe(
  Command.withDescription("Create an agent with a wallet, caps and a key"),
  Command.withExamples([
    {
      command:
        "bun run cli agent create --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test --name Researcher --cap-per-payment 2.50 --cap-per-day 10.00",
      description: "Creates an agent that may pay up to 10.00 a day"
    }
  ])
)

const list = Command.make(
  "list",
  { merchant: merchantId, env, json },
  Effect.fn("agent list")(function* (input) {
    yield* requireMerchant(input.merchant)
    const agents = yield* (yield* Agents).list(input.merchant, input.env)
    yield* print(
      input.json,
      { agents: agents.map(view) },
      agents.length === 0 ? ["No agents yet. Create one: bun run cli agent create"] : agents.map(describe)
    )
  })
).pipe(
  Command.withDescription("List a merchant's agents"),
  Command.withExamples([
    {
      command: "bun run cli agent list --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --env test",
      description: "Lists a merchant's agents"
    }
  ])
)

const find = Effect.fnUntraced(function* (merchant: MerchantId, id: AgentId) {
  const agents = yield* Agents
  for (const env of envs) {
    const agent = yield* agents.find(merchant, env, id)
    if (Option.isSome(agent)) return agent.value
  }
  return yield* unknown(merchant, id)
})

const change = Effect.fnUntraced(function* (
  input: { readonly merchant: MerchantId; readonly agent: AgentId; readonly json: boolean },
  changes: Parameters<Agents["Service"]["change"]>[2]
) {
  const before = yield* find(input.merchant, input.agent)
  const after = yield* (yield* AuditLog).recording(
    input.merchant,
    operator,
    (yield* Agents).change(input.merchant, input.agent, changes),
    Option.map((agent) => agentChanged(agent, changes))
  )
  if (Option.isNone(after)) return yield* unknown(input.merchant, input.agent)
  yield* print(input.json, { before: view(before), after: view(after.value) }, [
    `Before: ${describe(before)}`,
    `After:  ${describe(after.value)}`
  ])
})

const optionalUsd = (flag: Flag.Flag<AtomicUsdc>) => Flag.optional(flag)

const update = Command.make(
  "update",
  {
    merchant: merchantId,
    agent: agentId,
    capPerPayment: optionalUsd(usdFlag("cap-per-payment", "Cap per payment, in USD")),
    capPerDay: optionalUsd(usdFlag("cap-per-day", "Cap per 24 hours, in USD")),
    json
  },
  (input) =>
    change(input, {
      ...Option.match(input.capPerPayment, {
        onNone: () => ({}),
        onSome: (capPerPayment) => ({ capPerPayment })
      }),
      ...Option.match(input.capPerDay, { onNone: () => ({}), onSome: (capPerDay) => ({ capPerDay }) })
    })
).pipe(
  Command.withDescription("Change an agent's caps, effective immediately"),
  Command.withExamples([
    {
      command:
        "bun run cli agent update --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --agent 01a1fc34-7205-710e-9410-874fee9a4997 --cap-per-day 20.00",
      description: "Raises an agent's daily cap"
    }
  ])
)

const pause = Command.make("pause", { merchant: merchantId, agent: agentId, json }, (input) =>
  change(input, { status: "paused" })
).pipe(
  Command.withDescription("Pause an agent: it signs nothing until resumed"),
  Command.withExamples([
    {
      command:
        "bun run cli agent pause --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --agent 01a1fc34-7205-710e-9410-874fee9a4997",
      description: "Pauses an agent"
    }
  ])
)

const resume = Command.make("resume", { merchant: merchantId, agent: agentId, json }, (input) =>
  change(input, { status: "active" })
).pipe(
  Command.withDescription("Resume a paused agent"),
  Command.withExamples([
    {
      command:
        "bun run cli agent resume --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --agent 01a1fc34-7205-710e-9410-874fee9a4997",
      description: "Resumes an agent"
    }
  ])
)

const revoke = Command.make(
  "revoke",
  { merchant: merchantId, agent: agentId, json },
  Effect.fn("agent revoke")(function* (input) {
    const agent = yield* find(input.merchant, input.agent)
    const revoked = yield* (yield* AuditLog).recording(
      input.merchant,
      operator,
      (yield* Agents).revoke(input.merchant, input.agent),
      (isRevoked) => (isRevoked ? Option.some(agentRevoked(agent)) : Option.none())
    )
    if (!revoked) return yield* unknown(input.merchant, input.agent)
    yield* print(input.json, { revoked: input.agent }, [
      `Revoked ${input.agent}: its key no longer works. Payments already signed stay valid until they expire, at most 10 minutes.`
    ])
  })
).pipe(
  Command.withDescription("Revoke an agent and its key permanently"),
  Command.withExamples([
    {
      command:
        "bun run cli agent revoke --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --agent 01a1fc34-7205-710e-9410-874fee9a4997",
      description: "Revokes an agent and its key"
    }
  ])
)

const fund = Command.make(
  "fund",
  { merchant: merchantId, agent: agentId, json },
  Effect.fn("agent fund")(function* (input) {
    const agent = yield* find(input.merchant, input.agent)
    if (!hasFaucet(agent.env)) {
      return yield* new CommandFailed({ message: "The faucet funds test agents only." })
    }
    if (agent.status === "revoked") {
      return yield* new CommandFailed({
        message: "The agent is revoked and can no longer pay, so its wallet was not funded."
      })
    }
    const grant = yield* (yield* Faucet)
      .grant({ merchantId: input.merchant, recipient: agent.address, clientAddress: "operator" })
      .pipe(Effect.mapError(({ message }) => new CommandFailed({ message })))
    yield* print(
      input.json,
      {
        grant: {
          address: grant.recipient,
          usdcAtomic: grant.usdcAtomic.toString(),
          transactionIds: grant.transactionIds
        }
      },
      [
        `Sent ${formatUsd(grant.usdcAtomic)} USDC to ${grant.recipient}.`,
        ...grant.transactionIds.map((id) => `  ${id}`)
      ]
    )
  })
).pipe(
  Command.withDescription("Fund a test agent's wallet from the faucet"),
  Command.withExamples([
    {
      command:
        "bun run cli agent fund --merchant 01a1fc34-7205-710e-9410-874fee9a4996 --agent 01a1fc34-7205-710e-9410-874fee9a4997",
      description: "Sends test USDC to an agent"
    }
  ])
)

export const agent = Command.make("agent").pipe(
  Command.withDescription("Create, change and fund agents that pay over x402 within caps"),
  Command.withSubcommands([create, list, update, pause, resume, revoke, fund])
)
