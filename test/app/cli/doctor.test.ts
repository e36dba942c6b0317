// `doctor` with a running service, and with each thing that can be wrong.

import { describe, expect } from "bun:test"
import { utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { SQL } from "bun"
import { Effect, Redacted } from "effect"
import { mnemonicToAccount } from "viem/accounts"
import { freePort } from "../../../src/app/dev/freePort.ts"
import { domainSeparator } from "../../../src/chain/domainSeparator.ts"
import { networks } from "../../../src/domain/networks.ts"
import { joinEmbeddedPostgres } from "../../../src/platform/database/EmbeddedPostgres.ts"
import { smtpServer } from "../../platform/mail/smtpServer.ts"
import { listening } from "../../support/listening.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { redisMissing, startRedis } from "../../support/redis.ts"
import { liveEffect } from "../../support/run.ts"
import { smallDisk } from "../../support/smallDisk.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const separatorOf = (chainId: number) => {
  const network = Object.values(networks).find((one) => one.chainId === chainId)
  return network === undefined ? "0x" : domainSeparator(network)
}

/** A node that answers as the arguments say. */
const node = (
  chainId: number,
  ageSeconds: number,
  logs: "all" | "new" | "none" = "all",
  balance = "0x0",
  hasUsdc = true
) =>
  listening(async (request) => {
    const { id, method, params } = JSON.parse(await request.text())
    const height = params?.[0] === "latest" ? 0x10 : Number(params?.[0])
    const hex = (value: number) => `0x${value.toString(16)}`
    const answers: Readonly<Record<string, unknown>> = {
      eth_chainId: hex(chainId),
      eth_getCode: "0x6001",
      eth_getBalance: balance,
      eth_call: hasUsdc ? separatorOf(chainId) : `0x${"11".repeat(32)}`,
      eth_getBlockByNumber: {
        number: hex(height),
        hash: `0x${String(height).padStart(64, "0")}`,
        parentHash: `0x${"0".repeat(64)}`,
        timestamp: hex(Math.round(Date.now() / 1000) - ageSeconds)
      },
      eth_getLogs:
        logs === "all" || (logs === "new" && Number(params?.[0]?.blockHash?.slice(2)) === 0x10)
          ? []
          : undefined
    }
    const result = answers[method]
    return Response.json(
      result === undefined
        ? { jsonrpc: "2.0", id, error: { code: 4444, message: "pruned history unavailable" } }
        : { jsonrpc: "2.0", id, result }
    )
  })

const findings = (output: string) =>
  JSON.parse(output.split("\n").find((line) => line.startsWith("{")) ?? "{}").findings.map(
    ({ about, level }: { readonly about: string; readonly level: string }) =>
      `${about.replace(/:\d+$/, "")} ${level}`
  )

/** `doctor` with nodes that do not respond. */
const examined = (env: Readonly<Record<string, string>>) =>
  spawnProgram(["src/app/cli/main.ts", "doctor", "--json"], {
    HOST: "127.0.0.1",
    ARBITRUM_RPC_URLS: "http://127.0.0.1:9",
    BASE_SEPOLIA_RPC_URLS: "http://127.0.0.1:9",
    ...env
  })

/** It accepts connections and never answers. */
const muteServer = Effect.acquireRelease(
  Effect.sync(() => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } })),
  (server) => Effect.sync(() => server.stop(true))
)

const createMerchant = Effect.fnUntraced(function* (dataDir: string, receiver: string) {
  const made = yield* spawnProgram(
    ["src/app/cli/main.ts", "merchant", "create", "--name", "Shop", "--receiver", receiver, "--json"],
    { DATA_DIR: dataDir }
  )
  yield* made.succeeded
  return JSON.parse(made.stdout()).keys
})

describe("cli doctor", () => {
  liveEffect("finds nothing wrong with a running service, and names what is wrong with another", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const good = `http://127.0.0.1:${(yield* node(84532, 2)).port}`
      const receiver = `127.0.0.1:${(yield* node(1, 2)).port}`
      const closed = `127.0.0.1:${yield* freePort(0)}`
      const WEBHOOK_ALLOWED_HOSTS = `${receiver},${closed}`
      const service = yield* spawnService({
        DATA_DIR: dataDir,
        BASE_SEPOLIA_RPC_URLS: good,
        WEBHOOK_ALLOWED_HOSTS
      })
      yield* untilReady(service)
      for (const [index, host] of [receiver, closed].entries()) {
        const { test } = yield* createMerchant(dataDir, `0x${String(index + 1).repeat(40)}`)
        const { status } = yield* Effect.promise(() =>
          fetch(`${service.baseUrl}/api/v1/webhook-endpoint`, {
            method: "POST",
            headers: { authorization: `Bearer ${test.secret}`, "content-type": "application/json" },
            body: JSON.stringify({ url: `http://${host}/hook` })
          })
        )
        expect(status).toBe(201)
      }
      const env = { DATA_DIR: dataDir, BASE_URL: service.baseUrl, WEBHOOK_ALLOWED_HOSTS }
      const denyList = join(dataDir, "deny-list.txt")
      yield* Effect.promise(() =>
        writeFile(denyList, `0x${"1".repeat(40)}\n0x${"2".repeat(40)} # Since May\n`)
      )
      yield* Effect.promise(() => utimes(denyList, 1_790_000_000, 1_790_000_000))
      const well = yield* spawnProgram(["src/app/cli/main.ts", "doctor", "--json"], {
        ...env,
        DENY_LIST: denyList,
        BASE_SEPOLIA_RPC_URLS: good,
        ARBITRUM_RPC_URLS: `http://127.0.0.1:${(yield* node(42161, 2)).port}`,
        HOST: "127.0.0.1"
      })
      expect([yield* well.exited, well.output()]).toEqual([0, expect.anything()])
      expect(findings(well.output())).toEqual([
        "configuration ok",
        "database ok",
        "endpoint 127.0.0.1 warning",
        "endpoint 127.0.0.1 ok",
        "node 127.0.0.1 ok",
        "node 127.0.0.1 ok",
        "relayer warning",
        "deny list ok",
        "address ok"
      ])
      expect(well.output()).toContain("2 addresses, last changed 2026-09-21T14:13:20.000Z")
      expect(well.output()).toContain("Arbitrum One with its USDC, newest block")
      expect(well.output()).toContain("The connection failed")

      const wrongChain = `http://127.0.0.1:${(yield* node(1, 2)).port}`
      const old = `http://127.0.0.1:${(yield* node(84532, 900)).port}`
      const forgetful = `http://127.0.0.1:${(yield* node(84532, 2, "new")).port}`
      const refusing = `http://127.0.0.1:${(yield* node(84532, 2, "none")).port}`
      const otherToken = `http://127.0.0.1:${(yield* node(42161, 2, "all", "0x0", false)).port}`
      const dead = yield* freePort(0)
      const ill = yield* spawnProgram(["src/app/cli/main.ts", "doctor", "--json"], {
        DATA_DIR: dataDir,
        HOST: "127.0.0.1",
        BASE_URL: `http://127.0.0.1:${dead}`,
        DATABASE_URL: `postgres://quittance@127.0.0.1:${dead}/quittance`,
        BASE_SEPOLIA_RPC_URLS: `${wrongChain},${old},${forgetful},${refusing},http://127.0.0.1:${dead}`,
        ARBITRUM_RPC_URLS: `${good},http://127.0.0.1:${dead},${otherToken}`,
        FAUCET_PRIVATE_KEY: `0x${"01".repeat(32)}`,
        DENY_LIST: join(dataDir, "missing.txt"),
        TESTNET_CONFIRMATION: "1"
      })
      expect(yield* ill.exited).toBe(1)
      // One JSON document, for programs that parse the whole output.
      expect(JSON.parse(ill.stdout()).error).toEqual({
        message: "6 of 15 checks failed."
      })
      expect(findings(ill.output())).toEqual([
        "configuration ok",
        "configuration warning",
        "database failure",
        "node 127.0.0.1 failure",
        "node 127.0.0.1 warning",
        "node 127.0.0.1 warning",
        "node 127.0.0.1 failure",
        "node 127.0.0.1 failure",
        "node 127.0.0.1 warning",
        "node 127.0.0.1 warning",
        "node 127.0.0.1 warning",
        "faucet warning",
        "relayer warning",
        "deny list failure",
        "address failure"
      ])
      for (const told of [
        "mean TESTNET_CONFIRMATIONS?",
        "serves chain 1,",
        "serves chain 84532, not Arbitrum One",
        "is not USDC: its EIP-712 domain differs",
        "the logs of a day ago: pruned history unavailable (4444)",
        "the logs of its newest block: pruned history unavailable (4444)",
        "missing.txt cannot be read (ENOENT)",
        "The node does not respond (eth_chainId: no answer)",
        `The database quittance at 127.0.0.1:${dead} cannot be used: `
      ])
        expect(ill.output()).toContain(told)
      // 900 s, and the time until the look at it.
      expect(ill.output()).toMatch(/\b9\d\d s old/)
    })
  )

  liveEffect(
    "the relayer wallets' balances are shown in days of recent spending, also before Mainnet opens",
    () =>
      Effect.gen(function* () {
        const DATABASE_URL = yield* ownDatabase({
          template: yield* Effect.promise(() => templateDatabase(postgresUrl))
        })
        const mnemonics = {
          AGENT_WALLET_MNEMONIC:
            "legal winner thank year wave sausage worth useful legal winner thank yellow",
          LIVE_WALLET_MNEMONIC:
            "letter advice cage absurd amount doctor acoustic avoid letter advice cage above"
        }
        const sql = yield* Effect.acquireRelease(
          Effect.sync(() => new SQL(DATABASE_URL, { max: 1 })),
          (open) => Effect.promise(() => open.close())
        )
        // The first transaction is ten days old; in the last week the wallets spent 0.007 and 0.07 ETH.
        for (const [words, wei] of [
          [mnemonics.AGENT_WALLET_MNEMONIC, "7000000000000000"],
          [mnemonics.LIVE_WALLET_MNEMONIC, "70000000000000000"]
        ] as const) {
          const wallet = Buffer.from(mnemonicToAccount(words, { accountIndex: 1 }).address.slice(2), "hex")
          for (const [nonce, days] of [
            [0, 10],
            [1, 2]
          ] as const)
            yield* Effect.promise(
              () => sql`
              INSERT INTO wallet_transactions (wallet, nonce, purpose, reference, gas, versions, created_at, signed_at,
                ended_at, outcome, spent_wei)
              SELECT ${wallet}, ${nonce}, 'settle', gen_random_uuid(), 21000, ARRAY['\\x01'::bytea], at, at, at, 'moved', ${wei}::numeric
              FROM (SELECT now() - ${days} * interval '1 day' AS at) AS instants`
            )
        }
        const asked = yield* spawnProgram(["src/app/cli/main.ts", "doctor", "--live", "--json"], {
          DATA_DIR: yield* temporaryDirectory,
          DATABASE_URL,
          ...mnemonics,
          // Each wallet has 0.02 ETH.
          BASE_SEPOLIA_RPC_URLS: `http://127.0.0.1:${(yield* node(84532, 2, "all", "0x470de4df820000")).port}`,
          ARBITRUM_RPC_URLS: `http://127.0.0.1:${(yield* node(42161, 2, "all", "0x470de4df820000")).port}`
        })
        yield* asked.exited
        const output = asked.output()
        expect(output).toContain(
          'has 0.02000 ETH on Base Sepolia, enough for 20 days at 0.001 ETH a day, as in the last week"'
        )
        expect(output).toContain(
          'has 0.02000 ETH on Arbitrum One, enough for 2 days at 0.01 ETH a day, as in the last week. Send it ETH."'
        )
        expect(findings(output).filter((line: string) => line.startsWith("relayer"))).toEqual(
          expect.arrayContaining(["relayer ok", "relayer warning"])
        )
      })
  )

  liveEffect("a database that has been moved elsewhere is reported, even if it answers", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDirectory
      const DATABASE_URL = yield* ownDatabase()
      const url = new URL(DATABASE_URL)
      const sql = new SQL(DATABASE_URL, { max: 1 })
      yield* Effect.promise(() =>
        sql.unsafe(`ALTER DATABASE ${url.pathname.slice(1)} SET default_transaction_read_only = on`)
      )
      yield* Effect.promise(() => sql.close())
      const closed = yield* examined({ DATA_DIR: dataDir, DATABASE_URL })
      expect(yield* closed.exited).toBe(1)
      expect(findings(closed.output())).toContain("database failure")
      expect(closed.output()).toContain("bun src/app/cli/main.ts database reopen")
    })
  )

  liveEffect(
    "secrets encrypted under a key that ENCRYPTION_KEYS lacks are reported with the key's name",
    () =>
      Effect.gen(function* () {
        const DATABASE_URL = yield* ownDatabase({
          template: yield* Effect.promise(() => templateDatabase(postgresUrl))
        })
        const sql = new SQL(DATABASE_URL, { max: 1 })
        yield* Effect.promise(async () => {
          const [merchant, user] = [crypto.randomUUID(), crypto.randomUUID()]
          await sql`INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
          VALUES (${merchant}, 'Shop', decode(repeat('11', 20), 'hex'), decode(repeat('11', 20), 'hex'), now())`
          await sql`INSERT INTO webhook_endpoints (id, merchant_id, env, url, secret_kid, secret_ciphertext, secret_last_four, created_at, updated_at)
          VALUES (${crypto.randomUUID()}, ${merchant}, 'test', 'https://shop.example.com/hook', 'gone', '\\x00', 'abcd', now(), now())`
          await sql`INSERT INTO users (id, email, created_at) VALUES (${user}, 'a@example.com', now())`
          await sql`INSERT INTO authenticators (user_id, secret_kid, secret_ciphertext, created_at)
          VALUES (${user}, 'lost', '\\x00', now())`
          await sql.close()
        })
        const looked = yield* examined({ DATA_DIR: yield* temporaryDirectory, DATABASE_URL })
        yield* looked.exited
        expect(findings(looked.output())).toContain("secrets failure")
        expect(findings(looked.output())).toContain("secrets warning")
        for (const told of ["lacks the key `gone`", "lacks the key `lost`", "webhook regenerate-secret"])
          expect(looked.output()).toContain(told)
      })
  )

  liveEffect("a database that cannot be used is reported with the cause that the start names", () =>
    Effect.gen(function* () {
      const DATA_DIR = yield* temporaryDirectory
      const foreign = new URL(postgresUrl)
      foreign.password = "wrong"
      const missing = new URL(postgresUrl)
      missing.pathname = "/no-such-database"
      const plain = new URL(postgresUrl)
      plain.searchParams.set("sslmode", "require")
      const web = yield* listening(() => new Response("a web page"))
      const mute = yield* muteServer
      const cases = [
        [foreign.href, "password authentication failed"],
        [missing.href, 'database \\"no-such-database\\" does not exist'],
        [plain.href, "The server does not support TLS"],
        ["postgres://shop:secret@no-such-host.invalid/shop", "getaddrinfo ENOTFOUND"],
        [`postgres://shop:secret@127.0.0.1:${web.port}/shop`, "Message length"],
        [`postgres://shop:secret@127.0.0.1:${mute.port}/shop`, "Connection timed out"]
      ] as const
      yield* Effect.forEach(
        cases,
        Effect.fnUntraced(function* ([DATABASE_URL, cause]) {
          const looked = yield* examined({ DATA_DIR, DATABASE_URL })
          expect(yield* looked.exited).toBe(1)
          expect(looked.output()).toContain(`cannot be used: ${cause}`)
        }),
        { concurrency: "unbounded" }
      )
    })
  )

  liveEffect("an embedded database on a full disk is reported with the disk and the remedy", () =>
    Effect.gen(function* () {
      const disk = yield* smallDisk
      if (disk === undefined) return
      yield* createMerchant(disk.directory, `0x${"1".repeat(40)}`)
      disk.fill()
      const looked = yield* examined({ DATA_DIR: disk.directory })
      expect(yield* looked.exited).toBe(1)
      expect(looked.output()).toContain(
        `The disk that holds ${disk.directory}/postgres is full (0 MB are free)`
      )
    })
  )

  liveEffect("a server whose disk is full is reported, although it answers", () =>
    Effect.gen(function* () {
      const disk = yield* smallDisk
      if (disk === undefined) return
      const port = yield* freePort(0)
      const { password } = yield* joinEmbeddedPostgres(disk.directory, {
        listen_addresses: "127.0.0.1",
        port: String(port)
      })
      const env = {
        DATA_DIR: yield* temporaryDirectory,
        DATABASE_URL: `postgres://postgres:${Redacted.value(password)}@127.0.0.1:${port}/postgres`
      }
      const well = yield* examined(env)
      yield* well.exited
      expect(findings(well.output())).not.toContain("database failure")
      disk.fill()
      const looked = yield* examined(env)
      expect(yield* looked.exited).toBe(1)
      expect(looked.output()).toMatch(
        /"It cannot store anything: .*No space left on device\. Free space on the server's disk\."/
      )
      disk.free()
    })
  )

  liveEffect("a role that may not create temporary tables is not mistaken for a full disk", () =>
    Effect.gen(function* () {
      const url = new URL(yield* ownDatabase())
      const role = `${url.pathname.slice(1)}_role`
      const sql = new SQL(url.href, { max: 1 })
      yield* Effect.promise(async () => {
        await sql.unsafe(`REVOKE TEMPORARY ON DATABASE ${url.pathname.slice(1)} FROM PUBLIC`)
        await sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
      })
      yield* Effect.addFinalizer(() =>
        Effect.promise(async () => {
          await sql.unsafe(`DROP ROLE ${role}`)
          await sql.close()
        })
      )
      url.username = role
      url.password = "secret"
      const looked = yield* examined({ DATA_DIR: yield* temporaryDirectory, DATABASE_URL: url.href })
      yield* looked.exited
      expect(findings(looked.output())).toContain("database ok")
      expect(findings(looked.output())).not.toContain("database failure")
    })
  )

  liveEffect("the mail server and Redis are checked, and each failure names its cause", () =>
    Effect.gen(function* () {
      const mail = yield* smtpServer(() => undefined)
      const redis = redisMissing === undefined ? yield* startRedis : undefined
      const closed = `127.0.0.1:${yield* freePort(0)}`
      const mute = yield* muteServer
      const MAIL_FROM = "shop@example.com"
      const DATABASE_URL = yield* ownDatabase()
      const cases = [
        [
          { SMTP_URL: `smtp://shop:secret@127.0.0.1:${mail.port}`, ...(redis && { REDIS_URL: redis.url }) },
          ["mail ok", ...(redis === undefined ? [] : ["redis ok"])],
          []
        ],
        [
          { SMTP_URL: `smtp://${closed}`, REDIS_URL: `redis://${closed}` },
          ["mail failure", "redis failure"],
          ["SMTP_URL cannot be used: connect ECONNREFUSED", "REDIS_URL cannot be used: Connection closed"]
        ],
        [
          {
            SMTP_URL: `smtp://shop:wrong@127.0.0.1:${mail.port}`,
            REDIS_URL: `redis://127.0.0.1:${mute.port}`
          },
          ["mail failure", "redis failure"],
          ["SMTP_URL cannot be used: Invalid login", "REDIS_URL cannot be used: Connection closed"]
        ]
      ] as const
      yield* Effect.forEach(
        cases,
        Effect.fnUntraced(function* ([env, levels, causes]) {
          const looked = yield* examined({
            DATA_DIR: yield* temporaryDirectory,
            DATABASE_URL,
            MAIL_FROM,
            ...env
          })
          yield* looked.exited
          expect(findings(looked.output()).filter((line: string) => /^(mail|redis)/.test(line))).toEqual([
            ...levels
          ])
          for (const cause of causes) expect(looked.output()).toContain(cause)
        }),
        { concurrency: "unbounded" }
      )
      expect(mail.taken).toEqual([])
    })
  )
})
