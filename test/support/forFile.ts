// Shared by all tests of a file: started while the file is read, ended after its last test.
import { afterAll } from "bun:test"
import { Effect, Exit, Scope } from "effect"
import type { AppConfig } from "../../src/platform/AppConfig.ts"
import { testDatabase } from "./database.ts"
import { startService, type TestService } from "./service.ts"

/** Call it outside every `describe`. */
export const forFile = <A>(start: Effect.Effect<A, unknown, Scope.Scope>): Promise<A> => {
  const scope = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 120_000)
  return Effect.runPromise(Scope.provide(start, scope))
}

export const serviceForFile = (config: Partial<typeof AppConfig.Service> = {}): Promise<TestService> =>
  forFile(startService(testDatabase, config))
