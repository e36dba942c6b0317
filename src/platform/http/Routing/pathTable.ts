// The methods of each path, for 405 responses and preflights.
import { HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { type Access, accessOf, isCrossOrigin } from "../Access.ts"

export interface PathMethods {
  readonly pattern: RegExp
  readonly methods: Set<string>
  readonly crossOrigin: Set<string>
}

export interface ContractEndpoint {
  /** `group.endpoint`. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly access: Access
}

/** Every endpoint of a contract. `HttpApi.reflect` would also process the schemas of all responses at each start. */
export const endpointsOf = (contract: {
  readonly groups: Readonly<Record<string, HttpApiGroup.Constraint>>
}): ReadonlyArray<ContractEndpoint> =>
  Object.values(contract.groups).flatMap(({ endpoints, identifier }) =>
    Object.values(endpoints)
      .filter(HttpApiEndpoint.isHttpApiEndpoint)
      .map((endpoint) => ({
        name: `${identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        access: accessOf(endpoint)
      }))
  )

/** Path to methods; `systemPaths` are the GET paths outside the contracts. */
export const pathTable = (
  endpoints: ReadonlyArray<ContractEndpoint>,
  systemPaths: ReadonlyArray<string>
): ReadonlyArray<PathMethods> => {
  const table = new Map<string, PathMethods>()
  const entry = (path: string) => {
    const row = table.get(path) ?? {
      pattern: new RegExp(`^${path.replace(/:[A-Za-z]+/g, "[^/]+")}$`),
      methods: new Set<string>(),
      crossOrigin: new Set<string>()
    }
    table.set(path, row)
    return row
  }
  for (const { access, method, path } of endpoints) {
    const { methods, crossOrigin } = entry(path)
    methods.add(method)
    if (method === "GET") methods.add("HEAD")
    if (isCrossOrigin(access)) crossOrigin.add(method)
  }
  // After the endpoints, because a page's pattern may match their paths too.
  for (const path of systemPaths) entry(path).methods.add("GET").add("HEAD")
  return [...table.values()]
}

/** The path of a request target, without its query. */
export const pathOf = (target: string): string => target.split("?")[0] ?? "/"

export const entryOf = (table: ReadonlyArray<PathMethods>, path: string): PathMethods | undefined =>
  table.find((entry) => entry.pattern.test(path))

/** The value of the header `allow`. */
export const allowOf = ({ methods }: PathMethods): string => [...methods].sort().join(", ")
