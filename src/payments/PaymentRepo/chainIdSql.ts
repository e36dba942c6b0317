// The chain id of a row, derived from its environment.
import type { SqlClient, Statement } from "effect/sql"
import { envs, networks } from "../../domain/networks.ts"

export const chainIdSql = (sql: SqlClient.SqlClient, env: string): Statement.Fragment =>
  sql.literal(
    `CASE ${env} ${envs.map((value) => `WHEN '${value}' THEN ${networks[value].chainId}`).join(" ")} END::integer`
  )
