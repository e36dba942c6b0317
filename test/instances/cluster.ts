// Three instances as real processes on one Postgres, behind the balancer.
import { SQL } from "bun"
import { Effect, type Scope } from "effect"
import { freePort } from "../../src/app/dev/freePort.ts"
import { type RunningProcess, spawnProgram, temporaryDirectory } from "../support/process.ts"
import { type Balancer, startBalancer } from "./balancer.ts"

export interface Instance extends RunningProcess {
  readonly port: number
  readonly baseUrl: string
}

export interface InstanceCluster {
  readonly balancer: Balancer
  readonly sql: SQL
  readonly databaseUrl: string
  readonly env: Readonly<Record<string, string>>
  /** Starts an instance, and waits until the balancer uses it. */
  readonly start: (...program: ReadonlyArray<string>) => Effect.Effect<Instance, never, Scope.Scope>
  readonly cli: (...args: ReadonlyArray<string>) => Effect.Effect<string, never, Scope.Scope>
}

export const secrets = {
  INTENT_TOKEN_SECRETS: `first:${"i".repeat(40)}`,
  ENCRYPTION_KEYS: `first:${Buffer.alloc(32, 7).toString("base64")}`
}

export const until = (what: string, condition: () => boolean | Promise<boolean>, timeoutMillis = 30_000) =>
  Effect.promise(async () => {
    const start = performance.now()
    while (!(await condition())) {
      if (performance.now() - start > timeoutMillis)
        throw new Error(`not within ${timeoutMillis} ms: ${what}`)
      await Bun.sleep(20)
    }
  })

export const instanceCluster = (
  databaseUrl: string,
  settings: Readonly<Record<string, string>>
): Effect.Effect<InstanceCluster, never, Scope.Scope> =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryDirectory
    const balancer = yield* Effect.acquireRelease(
      Effect.promise(() => startBalancer()),
      (running) => Effect.sync(() => running.stop())
    )
    const sql = yield* Effect.acquireRelease(
      Effect.sync(() => new SQL(databaseUrl, { max: 2 })),
      (open) => Effect.promise(() => open.close())
    )
    const env = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      BASE_URL: balancer.url,
      SHUTDOWN_DELAY: "1s",
      ...secrets,
      ...settings
    }
    return {
      balancer,
      sql,
      databaseUrl,
      env,
      start: Effect.fnUntraced(function* (...program: ReadonlyArray<string>) {
        const port = yield* freePort(0)
        const child = yield* spawnProgram(program.length === 0 ? ["src/app/main.ts"] : program, {
          ...env,
          PORT: String(port),
          HOST: "127.0.0.1"
        })
        balancer.add(port)
        yield* until("an instance is ready", () => balancer.isReady(port), 60_000).pipe(
          Effect.onError(() => Effect.sync(() => console.log(child.output())))
        )
        return { ...child, port, baseUrl: `http://127.0.0.1:${port}` }
      }),
      cli: Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const child = yield* spawnProgram(["src/app/cli/main.ts", ...args], env)
        const code = yield* child.exited
        if (code !== 0) throw new Error(`cli ${args.join(" ")}: ${child.output()}`)
        return child.stdout()
      })
    }
  })
