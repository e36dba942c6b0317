// Agents as a merchant's people create and change them: what the page shows and refuses, and that every change applies
// to the agent's next request.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { Effect, Option } from "effect"
import { byEnv, networks } from "../../src/domain/networks.ts"
import { serviceForFile } from "../support/forFile.ts"
import { signWith } from "./agentKey.ts"
import { agentForm, receiver, signUp } from "./person.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()
const without = await serviceForFile({ walletMnemonics: byEnv(() => Option.none()) })
const person = await signUp(service.baseUrl)
const at = `/merchants/${person.merchantId}/test`

describe("Agents in the dashboard on Postgres", () => {
  const create = async (changes: object = {}) => {
    const made = await person.call("POST", `${at}/agents`, { ...agentForm, ...changes })
    expect(made.status).toBe(201)
    const { agent, key } = made.body
    const path = `${at}/agents/${agent.id}`
    return {
      key,
      id: agent.id,
      path,
      read: async () => (await person.call("GET", path)).body,
      sign: (amount: string) => signWith(service.baseUrl, key, amount)
    }
  }

  test("the key is shown once; later only its last four characters, and nothing in the list of keys", async () => {
    const { key, id, read } = await create()
    expect(key).toMatch(/^ak_test_/)
    const page = await person.call("GET", `${at}/agents`)
    expect(page.body).toMatchObject({ configured: true })
    expect(page.body.agents[0]).toMatchObject({
      id,
      name: "Researcher",
      status: "active",
      keyLastFour: key.slice(-4),
      caps: { perPayment: "2.50", perDay: "10.00" },
      spent: "0.00",
      remaining: "10.00"
    })
    expect(JSON.stringify([page.body, await read()])).not.toContain(key)
    const { keys } = (await person.call("GET", `${at}/keys`)).body
    expect(keys.map(({ prefix }: { prefix: string }) => prefix)).not.toContain("ak_test_")
  })

  test("an agent's key cannot be rotated or revoked among the API keys", async () => {
    const { key, sign } = await create()
    const { keyId } = await Effect.runPromise(service.auth.authenticate(key))
    for (const action of ["rotate", "revoke"]) {
      expect((await person.call("POST", `${at}/keys/${keyId}/${action}`)).status).toBe(404)
    }
    expect((await sign("1.00")).status).toBe(201)
  })

  test("an agent's authorization shows at once: spent, left, and the payment", async () => {
    const { sign, read } = await create()
    expect((await read()).payments).toEqual([])
    expect((await sign("1.50")).status).toBe(201)
    expect((await sign("0.25")).status).toBe(201)
    const page = await read()
    expect(page.agent).toMatchObject({ spent: "1.75", remaining: "8.25" })
    expect(page.explorerUrl).toBe(networks.test.explorerUrl)
    expect(page.payments).toMatchObject([
      { amount: "0.25", status: "reserved", payTo: receiver },
      { amount: "1.50", status: "reserved", resource: "https://api.example.com/weather" }
    ])
  })

  test("changes apply to the next request", async () => {
    const { sign, read, path } = await create()
    expect((await sign("2.50")).status).toBe(201)
    const changed = {
      name: "Frugal",
      capPerPayment: "0.10",
      capPerDay: "2.60",
      allowedHosts: ["API.example.com", "api.example.com", "127.0.0.1:9000"],
      allowedPayees: [receiver.toLowerCase(), receiver]
    }
    expect((await person.call("PATCH", path, changed)).status).toBe(204)
    expect((await read()).agent).toMatchObject({
      name: "Frugal",
      caps: { perPayment: "0.10", perDay: "2.60" },
      remaining: "0.10",
      allowedHosts: ["api.example.com", "127.0.0.1:9000"],
      allowedPayees: [receiver]
    })
    expect((await sign("0.11")).body.error).toMatchObject({ code: "AGENT_CAP_EXCEEDED", reason: "payment" })
    expect((await sign("0.10")).status).toBe(201)
    expect((await sign("0.01")).body.error).toMatchObject({ code: "AGENT_CAP_EXCEEDED", reason: "day" })
    await person.call("PATCH", path, { ...agentForm, allowedHosts: ["other.example.com"] })
    expect((await sign("0.01")).body.error.code).toBe("AGENT_HOST_NOT_ALLOWED")
    // Lists can be removed again.
    await person.call("PATCH", path, agentForm)
    expect((await read()).agent).toMatchObject({ allowedHosts: null, allowedPayees: null })
    expect((await sign("0.01")).status).toBe(201)
  })

  const refused: ReadonlyArray<readonly [string, object, string]> = [
    ["a name of nothing", { name: "" }, "body.name"],
    ["an amount with a comma", { capPerPayment: "1,50" }, "body.capPerPayment"],
    ["an amount of nothing", { capPerDay: "0.00" }, "body.capPerDay"],
    ["seven decimals", { capPerDay: "0.0000001" }, "body.capPerDay"],
    ["a list of nothing", { allowedHosts: [] }, "body.allowedHosts"],
    ["an address as a host", { allowedHosts: ["a.example", "https://a.example/"] }, "body.allowedHosts.1"],
    ["a host with a path", { allowedHosts: ["a.example/x"] }, "body.allowedHosts.0"],
    ["a host with a user", { allowedHosts: ["a@b.example"] }, "body.allowedHosts.0"],
    ["a host with its default port", { allowedHosts: ["a.example:443"] }, "body.allowedHosts.0"],
    ["a host without a name", { allowedHosts: [":8080"] }, "body.allowedHosts.0"],
    ["a payee that is no address", { allowedPayees: ["0x12"] }, "body.allowedPayees.0"],
    [
      "a payee with a broken checksum",
      { allowedPayees: [receiver, receiver.replace("C5", "c5")] },
      "body.allowedPayees.1"
    ]
  ]
  for (const [name, changes, path] of refused) {
    test(`${name} is refused with its field, and changes nothing`, async () => {
      const { path: of, read } = await create()
      const before = (await person.call("GET", `${at}/agents`)).body.agents.length
      for (const [method, to] of [
        ["POST", `${at}/agents`],
        ["PATCH", of]
      ] as const) {
        const answer = await person.call(method, to, { ...agentForm, ...changes })
        expect(answer.status).toBe(400)
        expect(answer.body.error.details?.[0]?.path).toBe(path)
      }
      expect((await person.call("GET", `${at}/agents`)).body.agents).toHaveLength(before)
      expect((await read()).agent).toMatchObject({ ...{ name: "Researcher" }, allowedHosts: null })
    })
  }

  test("a paused agent signs nothing, a resumed one does; a revoked agent's key is gone for good", async () => {
    const { sign, read, path } = await create()
    const post = (action: string) => person.call("POST", `${path}/${action}`)
    expect((await post("pause")).status).toBe(204)
    expect((await read()).agent.status).toBe("paused")
    expect((await sign("1.00")).body.error.code).toBe("AGENT_PAUSED")
    expect((await post("resume")).status).toBe(204)
    expect((await sign("1.00")).status).toBe(201)
    expect((await post("revoke")).status).toBe(204)
    expect((await sign("1.00")).status).toBe(401)
    expect((await read()).agent).toMatchObject({ status: "revoked", spent: "1.00" })
    for (const action of ["pause", "resume", "revoke", "fund"]) {
      const answer = await post(action)
      expect(answer.status).toBe(404)
      expect(answer.body.error.message).toContain("which is final")
    }
    expect((await person.call("PATCH", path, agentForm)).status).toBe(404)
    const { agents } = (await person.call("GET", `${at}/agents`)).body
    expect(agents.at(-1)?.status).toBe("revoked")
  })

  test("the faucet funds a wallet three times a day, then says when it is available again", async () => {
    const { path } = await create()
    const fund = () => person.call("POST", `${path}/fund`)
    const granted = await fund()
    expect(granted.status).toBe(201)
    expect(granted.body.usdc).toMatch(/^\d+\.\d{2}$/)
    await fund()
    await fund()
    const over = await fund()
    expect(over.body.error).toMatchObject({ code: "FAUCET_LIMIT_REACHED", reason: "recipient" })
    expect(over.body.error.message).toContain("This wallet has reached its limit of 3 grants")
    expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0)
  })

  test("the wallet's balance is a separate request", async () => {
    const { path } = await create()
    expect<unknown>((await person.call("GET", `${path}/balance`)).body).toEqual({ usdc: "0.00" })
  })

  test("live agents can be created, but neither funded nor served while Mainnet is closed", async () => {
    const live = at.replace("/test", "/live")
    const made = await person.call("POST", `${live}/agents`, agentForm)
    expect(made.body.key).toMatch(/^ak_live_/)
    const funded = await person.call("POST", `${live}/agents/${made.body.agent.id}/fund`)
    expect(funded.body.error.code).toBe("LIVE_MODE_GATED")
    expect((await signWith(service.baseUrl, made.body.key, "1.00")).body.error.code).toBe("LIVE_MODE_GATED")
    const { agents } = (await person.call("GET", `${live}/agents`)).body
    expect(agents).toHaveLength(1)
  })

  test("without a mnemonic the page says so, and no agent is created", async () => {
    const other = await signUp(without.baseUrl)
    const path = `/merchants/${other.merchantId}/test/agents`
    expect((await other.call("GET", path)).body).toMatchObject({ configured: false, agents: [] })
    const answer = await fetch(`${without.baseUrl}/dashboard/api${path}`, {
      method: "POST",
      headers: {
        cookie: other.cookie,
        "sec-fetch-site": "same-origin",
        "content-type": "application/json"
      },
      body: JSON.stringify(agentForm)
    })
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ error: { code: "AGENTS_NOT_CONFIGURED" } })
  })
})
