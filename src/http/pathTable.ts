// Which methods each path takes, for 405 answers and preflights.
import { HttpApi } from "effect/http-api"
import { Api } from "../Api.ts"
import { access } from "./routes.ts"

export interface PathMethods {
  readonly pattern: RegExp
  readonly methods: Set<string>
  readonly crossOrigin: Set<string>
}

/** Path to methods, read off the contract; `systemPaths` are the GET paths outside it. */
export const pathTable = (systemPaths: ReadonlyArray<string>): ReadonlyArray<PathMethods> => {
  const table = new Map<string, PathMethods>()
  const entry = (path: string) => {
    const found = table.get(path) ?? {
      pattern: new RegExp(`^${path.replace(/:[A-Za-z]+/g, "[^/]+")}$`),
      methods: new Set<string>(),
      crossOrigin: new Set<string>()
    }
    table.set(path, found)
    return found
  }
  for (const path of systemPaths) entry(path).methods.add("GET").add("HEAD")
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { methods, crossOrigin } = entry(endpoint.path)
      methods.add(endpoint.method)
      if (endpoint.method === "GET") methods.add("HEAD")
      const name = `${group.identifier}.${endpoint.identifier}`
      if (access[name]?.crossOrigin === true || group.identifier === "playground")
        crossOrigin.add(endpoint.method)
    }
  })
  return [...table.values()]
}

/** The path of a request target, without its query. */
export const pathOf = (target: string): string => target.split("?")[0] ?? "/"

export const entryOf = (table: ReadonlyArray<PathMethods>, path: string): PathMethods | undefined =>
  table.find((one) => one.pattern.test(path))

/** The value of the header `allow`. */
export const allowOf = ({ methods }: PathMethods): string => [...methods].sort().join(", ")
