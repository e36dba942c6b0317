// `audit verify` as a process: against a rewritten log, a trigger that is off, and as a role that does not own it.
import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { SQL } from "bun"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { MerchantId } from "../../../src/domain/Merchant.ts"
import { AuditRepo } from "../../../src/merchants/audit/AuditRepo.ts"
import { ownDatabase, postgresUrl } from "../../support/ownDatabase.ts"
import { spawnProgram, spawnService, temporaryDirectory, untilReady } from "../../support/process.ts"
import { liveEffect } from "../../support/run.ts"
import { templateDatabase } from "../../support/testPostgres.ts"

const cli = Effect.fnUntraced(function* (database: string, ...args: ReadonlyArray<string>) {
  const child = yield* spawnProgram(["src/app/cli/main.ts", ...args], { DATABASE_URL: database })
  const code = yield* child.exited
  return { code, output: child.output(), stdout: child.stdout() }
})

const connected = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => new SQL(url, { max: 1 })),
    (sql) => Effect.promise(() => sql.close())
  )

/** A migrated database with three audit entries. */
const withEntries = Effect.gen(function* () {
  const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
  const url = yield* ownDatabase({ template })
  const repo = yield* Layer.build(
    AuditRepo.layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(url) })))
  ).pipe(Effect.map(Context.get(AuditRepo)))
  for (const name of ["one", "two", "three"])
    yield* repo.insert(
      {
        merchantId: null,
        env: null,
        actorId: null,
        actor: name,
        action: "key.created",
        summary: "made a key"
      },
      new Date()
    )
  return { url, sql: yield* connected(url), repo, verify: repo.verify }
})

/** An attack by the table's owner: change the first entry and recompute every hash. */
const rewrite = `
  ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_stay;
  UPDATE audit_entries SET actor = 'nobody' WHERE position = 1;
  DO $$ DECLARE e audit_entries; previous bytea := ''; BEGIN
    FOR e IN SELECT * FROM audit_entries ORDER BY position LOOP
      UPDATE audit_entries SET hash = sha256(previous || convert_to(json_build_array(
        e.position, e.merchant_id, e.env, (extract(epoch FROM e.at) * 1000000)::bigint, e.actor_id, e.actor,
        e.action, e.summary)::text, 'UTF8')) WHERE position = e.position RETURNING hash INTO previous;
    END LOOP;
  END $$;`
/** The SQL of the document, without its CREATE ROLE line, because the role exists already. */
const handOver =
  /## The audit log[\s\S]+?```sql\nCREATE ROLE.+\n([\s\S]+?)```/.exec(
    readFileSync(join(import.meta.dir, "../../../docs/databases.md"), "utf8")
  )?.[1] ?? ""

const guard = "ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_stay"

describe("audit verify", () => {
  liveEffect(
    "detects a log that was rewritten or truncated since an earlier head, and a disabled trigger",
    () =>
      Effect.gen(function* () {
        const { sql, url, verify } = yield* withEntries
        const run = (statements: string) => Effect.promise(() => sql.unsafe(statements).simple())
        const before = yield* verify(Option.none())
        expect(before).toMatchObject({
          entries: 3,
          broken: Option.none(),
          isProtected: true,
          canDisableTrigger: true
        })
        const head = Option.getOrThrow(before.head)
        const line = `${head.position}:${head.hash}`
        expect(line).toMatch(/^3:[0-9a-f]{64}$/)
        const good = yield* cli(url, "audit", "verify", "--since", line)
        expect(good.code).toBe(0)
        for (const part of ["unchanged up to 3, the head of --since", `--since ${line}`, "owns the table"])
          expect(good.output).toContain(part)

        yield* run(rewrite)
        expect((yield* verify(Option.none())).isProtected).toBe(false)
        yield* run("ALTER TABLE audit_entries ENABLE TRIGGER audit_entries_stay")
        const off = yield* cli(url, "audit", "verify")
        expect([off.code, off.output]).toEqual([1, expect.stringContaining("not enabled ALWAYS")])
        yield* run(guard)
        // The rewritten chain is consistent; only the earlier head reveals the change.
        const rewritten = yield* verify(Option.some(head))
        expect(rewritten).toMatchObject({ broken: Option.none(), isProtected: true })
        expect(rewritten.hashAtHead).toEqual(Option.map(rewritten.head, ({ hash }) => hash))
        const told = yield* cli(url, "audit", "verify", "--since", line)
        expect([told.code, told.output]).toEqual([
          1,
          expect.stringContaining("entries up to 3 differ from those of --since")
        ])
        yield* run(`ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_stay;
        DELETE FROM audit_entries WHERE position = 3; ${guard};`)
        expect(yield* verify(rewritten.head)).toMatchObject({
          broken: Option.none(),
          hashAtHead: Option.none()
        })

        yield* run(`CREATE OR REPLACE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RETURN NULL; END'`)
        expect((yield* verify(Option.none())).isProtected).toBe(false)
      })
  )

  liveEffect("detects a trigger or function that was replaced by a weaker one of the same name", () =>
    Effect.gen(function* () {
      const { sql, verify } = yield* withEntries
      const run = (statements: string) => Effect.promise(() => sql.unsafe(statements).simple())
      const [{ body, definition }] = yield* Effect.promise(
        () => sql`
          SELECT pg_get_functiondef(tgfoid) AS body, pg_get_triggerdef(oid) AS definition FROM pg_trigger
          WHERE tgrelid = 'audit_entries'::regclass AND tgname = 'audit_entries_stay'`
      )
      const recreated = (statement: string) =>
        run(`DROP TRIGGER audit_entries_stay ON audit_entries; ${statement}; ${guard}`)
      const isGuarded = Effect.map(verify(Option.none()), ({ isProtected }) => isProtected)
      for (const weaker of [
        "BEFORE TRUNCATE ON audit_entries",
        "BEFORE UPDATE OF hash OR DELETE OR TRUNCATE ON audit_entries",
        "BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_entries WHEN (false)"
      ]) {
        yield* recreated(`CREATE TRIGGER audit_entries_stay ${weaker} EXECUTE FUNCTION audit_entries_stay()`)
        expect(yield* isGuarded, weaker).toBe(false)
      }
      yield* recreated(definition)
      expect(yield* isGuarded).toBe(true)
      yield* run(`CREATE OR REPLACE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''x''; EXCEPTION WHEN OTHERS THEN RETURN NULL; END'`)
      expect(yield* isGuarded).toBe(false)
      yield* run(body)
      expect(yield* isGuarded).toBe(true)
    })
  )

  liveEffect(
    "a change whose audit entry is swallowed fails; whatever swallows, alters or hides entries is reported",
    () =>
      Effect.gen(function* () {
        const { repo, sql, url, verify } = yield* withEntries
        const run = (statements: string) => Effect.promise(() => sql.unsafe(statements).simple())
        const count = Effect.promise(() => sql`SELECT count(*)::int AS n FROM audit_entries`)
        const entry = {
          merchantId: null,
          env: null,
          actorId: null,
          actor: "four",
          action: "key.created",
          summary: "made a key"
        } as const
        yield* run(`CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
        const cases = [
          [
            "CREATE RULE swallow AS ON INSERT TO audit_entries DO INSTEAD NOTHING",
            "DROP RULE swallow ON audit_entries",
            "the rule swallow"
          ],
          [
            "CREATE TRIGGER swallow BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION swallow()",
            "DROP TRIGGER swallow ON audit_entries",
            "the trigger swallow"
          ]
        ] as const
        for (const [swallow, undo, name] of cases) {
          yield* run(swallow)
          const change = repo.transaction(repo.insert(entry, new Date()))
          expect((yield* Effect.exit(change))._tag, name).toBe("Failure")
          expect((yield* verify(Option.none())).foreignTriggers).toEqual([name])
          yield* run(undo)
        }
        expect([...(yield* count)]).toEqual([{ n: 3 }])
        yield* run("ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY")
        const told = yield* cli(url, "audit", "verify")
        expect([told.code, told.output]).toEqual([
          1,
          expect.stringContaining("row-level security on audit_entries")
        ])
        yield* run("ALTER TABLE audit_entries DISABLE ROW LEVEL SECURITY")
        expect((yield* verify(Option.none())).foreignTriggers).toEqual([])
      })
  )

  liveEffect(
    "reports the log's owner; a service whose role is not the owner works and cannot disable the log",
    () =>
      Effect.gen(function* () {
        const url = yield* ownDatabase()
        const admin = yield* connected(url)
        const role = `shop_${process.pid}_${Bun.randomUUIDv7().slice(-8)}`
        const auditor = `${role}_audit`
        const database = new URL(url).pathname.slice(1)
        yield* Effect.acquireRelease(
          Effect.promise(() =>
            admin
              .unsafe(
                `CREATE ROLE ${role} LOGIN PASSWORD 'word'; CREATE ROLE ${auditor} NOLOGIN;
               GRANT USAGE, CREATE ON SCHEMA public TO ${role}`
              )
              .simple()
          ),
          () =>
            Effect.promise(() =>
              admin
                .unsafe(`DROP OWNED BY ${role}, ${auditor} CASCADE; DROP ROLE ${role}, ${auditor}`)
                .simple()
            )
        )
        const own = new URL(url)
        own.username = role
        own.password = "word"
        const create = ["merchant", "create", "--name", "Shop", "--json", "--receiver"]
        const { merchant } = JSON.parse((yield* cli(own.href, ...create, `0x${"1".repeat(40)}`)).stdout)

        const sql = handOver.replaceAll("quittance_audit", auditor).replace(/\bquittance\b/g, role)
        expect(sql).toContain(`OWNER TO ${auditor}`)
        yield* Effect.promise(() => admin.unsafe(sql).simple())
        yield* untilReady(yield* spawnService({ DATABASE_URL: own.href }))
        const key = ["key", "create", "--merchant", merchant.id, "--env", "test", "--kind", "secret"]
        expect((yield* cli(own.href, ...key)).code).toBe(0)
        const verified = yield* cli(own.href, "audit", "verify", "--json")
        expect(JSON.parse(verified.stdout)).toMatchObject({ entries: 4, owned: false })

        const client = yield* connected(own.href)
        for (const statement of [
          "ALTER TABLE audit_entries DISABLE TRIGGER audit_entries_stay",
          "DROP TABLE audit_entries",
          "DROP SCHEMA public CASCADE",
          "CREATE OR REPLACE FUNCTION audit_entries_stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
          "SET session_replication_role = replica",
          "UPDATE audit_entries SET actor = 'nobody'"
        ])
          expect(
            yield* Effect.promise(() =>
              client.unsafe(statement).then(String, (error: Error) => error.message)
            ),
            `${statement} in ${database}`
          ).toMatch(/must be owner|permission denied/)
      })
  )
})

liveEffect("audit list shows who made each change, and how to list the merchant's earlier entries", () =>
  Effect.gen(function* () {
    const { repo, sql, url } = yield* withEntries
    const merchantId = MerchantId.make(Bun.randomUUIDv7())
    yield* Effect.promise(
      () => sql`
        INSERT INTO merchants (id, name, receiver_test, receiver_live, created_at)
        VALUES (${merchantId}, 'Shop', ${Buffer.alloc(20, 1)}, ${Buffer.alloc(20, 1)}, now())`
    )
    for (let number = 0; number < 101; number++)
      yield* repo.insert(
        {
          merchantId,
          env: "test",
          actorId: null,
          actor: "operator",
          action: "key.created",
          summary: "made a key"
        },
        new Date()
      )
    const all = yield* cli(url, "audit", "list")
    expect(all.output.split("\n")[0]).toContain(`test  ${merchantId}  operator made a key`)
    const own = yield* cli(url, "audit", "list", "--merchant", merchantId)
    expect(own.output.trim().split("\n").at(-1)).toEndWith(`audit list --merchant ${merchantId} --before 5`)
    const [newest] = JSON.parse((yield* cli(url, "audit", "list", "--json")).stdout).entries
    expect(newest.merchantId).toBe(merchantId)
    const { entries } = JSON.parse((yield* cli(url, "audit", "list", "--before", "4", "--json")).stdout)
    expect(entries[0].merchantId).toBeNull()
  })
)

liveEffect("the log records every key, member and agent that a command creates or changes", () =>
  Effect.gen(function* () {
    const template = yield* Effect.promise(() => templateDatabase(postgresUrl))
    const url = yield* ownDatabase({ template })
    const dataDir = yield* temporaryDirectory
    const run = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
      const child = yield* spawnProgram(["src/app/cli/main.ts", ...args, "--json"], {
        DATABASE_URL: url,
        DATA_DIR: dataDir
      })
      yield* child.succeeded
      return JSON.parse(child.stdout())
    })
    const receiver = `0x${"1".repeat(40)}`
    const { keys, merchant } = yield* run("merchant", "create", "--name", "Shop", "--receiver", receiver)
    const of = ["--merchant", merchant.id]
    const caps = ["--cap-per-payment", "1", "--cap-per-day", "10"]
    const { agent } = yield* run("agent", "create", ...of, "--env", "test", "--name", "Buyer", ...caps)
    const named = [...of, "--agent", agent.id]
    yield* run("agent", "update", ...named, "--cap-per-day", "20")
    yield* run("agent", "pause", ...named)
    yield* run("agent", "revoke", ...named)
    yield* run("user", "create", ...of, "--email", "ada@example.com")
    yield* run("key", "create", ...of, "--env", "live")
    const { entries } = yield* run("audit", "list", ...of)
    const log = entries.map(
      (one: { actor: string; action: string; env: string | null; summary: string }) =>
        `${one.actor} ${one.action} ${one.env ?? "both"}: ${one.summary}`
    )
    expect(log.toReversed()).toEqual([
      `operator merchant.created both: created the merchant, which receives at ${receiver} on test and at ${receiver} on live`,
      `operator key.created test: created the first keys: full access sk_test_…${keys.test.secret.slice(-4)}, publishable pk_test_…${keys.test.publishable.slice(-4)}`,
      `operator key.created live: created the first keys: full access sk_live_…${keys.live.secret.slice(-4)}, publishable pk_live_…${keys.live.publishable.slice(-4)}`,
      `operator agent.created test: created the agent Buyer with the wallet ${agent.address} and the key …${agent.keyLastFour}, up to 1.00 USD a payment and 10.00 USD a day, any host, any payee`,
      "operator agent.changed test: changed the agent Buyer: up to 1.00 USD a payment and 20.00 USD a day",
      "operator agent.changed test: changed the agent Buyer: paused",
      `operator agent.revoked test: revoked the agent Buyer and its key …${agent.keyLastFour}`,
      "operator member.invited both: invited ada@example.com as owner",
      "operator key.created live: created a full-access secret key"
    ])
  })
)
