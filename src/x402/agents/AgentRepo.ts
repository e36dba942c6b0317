// Agents and their spending.
import { Context, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { makeAgentRepoSql } from "./AgentRepo/AgentRepoSql.ts"
import type { AgentStore } from "./AgentRepo/AgentStore.ts"

export class AgentRepo extends Context.Service<AgentRepo, AgentStore>()("quittance/x402/AgentRepo") {
  static readonly layer: Layer.Layer<AgentRepo, never, SqlClient.SqlClient> = Layer.effect(
    AgentRepo,
    makeAgentRepoSql
  )
}
