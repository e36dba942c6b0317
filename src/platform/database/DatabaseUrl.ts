// DATABASE_URL, which may list several servers of one database: `postgres://user@one:5432,two:5432/name`.
import { clientParameters } from "../AppConfig/urlParameters.ts"
import type { Server } from "./Connector.ts"

export interface DatabaseUrl {
  /** The URL with only its first server, for the client. */
  readonly first: string
  readonly servers: readonly [Server, ...ReadonlyArray<Server>]
  /** Database and servers, without user and password. */
  readonly shown: string
}

const urlPattern = /^(postgres(?:ql)?:\/\/)(?:([^@/]*)@)?([^/?]*)(\/[^?]*)?(\?.*)?$/

const serverOf = (host: string, port: string): Server => {
  const number = port === "" ? 5432 : Number(port)
  return host.startsWith("/")
    ? { path: `${host}/.s.PGSQL.${number}` }
    : { host: host === "" ? "localhost" : host.replace(/^\[|\]$/g, ""), port: number }
}

const show = (server: Server) => ("path" in server ? server.path : `${server.host}:${server.port}`)

/** Undefined if it is not a URL. Servers are before the path, or in `host` and `port`, as in libpq. */
export const parseDatabaseUrl = (text: string): DatabaseUrl | undefined => {
  const [, scheme, user, authority = "", path = "", query = ""] = urlPattern.exec(text) ?? []
  if (scheme === undefined) return undefined
  const params = new URLSearchParams(query)
  const hosts = params.get("host")?.split(",")
  const ports = params.get("port")?.split(",") ?? []
  const listedServers = authority.split(",").map((server) => {
    const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(server) ?? []
    return serverOf(decodeURIComponent(host), port)
  })
  const servers = hosts?.map((host, index) => serverOf(host, ports[index] ?? ports[0] ?? "")) ?? listedServers
  const [first, ...others] = servers
  if (first === undefined) return undefined
  const parameters = clientParameters(params)
  if ("path" in first) parameters.set("host", first.path.replace(/\/\.s\.PGSQL\.\d+$/, ""))
  const host = "path" in first ? "localhost" : first.host.includes(":") ? `[${first.host}]` : first.host
  const port = "path" in first ? (/\d+$/.exec(first.path)?.[0] ?? "5432") : first.port
  const rest = parameters.size === 0 ? "" : `?${parameters}`
  const credentials = user === undefined ? "" : `${user}@`
  return {
    first: `${scheme}${credentials}${host}:${port}${path}${rest}`,
    servers: [first, ...others],
    shown: `${decodeURIComponent(path.slice(1)) || "postgres"} at ${servers.map(show).join(", ")}`
  }
}
