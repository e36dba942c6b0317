// The architecture's rules, read off the sources. Each failure names the import and what to do.
import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "..")

/** From the bottom up: a folder imports only itself and the folders before it. */
const order = [
  "domain",
  "platform",
  "chain",
  "merchants",
  "webhooks",
  "payments",
  "x402",
  "notifications",
  "checkout",
  "packages",
  "dashboard",
  "app"
]

interface Import {
  readonly file: string
  readonly line: number
  readonly target: string
  readonly typeOnly: boolean
}

const textOf = (file: string) => readFileSync(join(root, file), "utf8")
const sources = [...new Glob("{src,migrations}/**/*.{ts,tsx}").scanSync(root)].toSorted()
const imports: ReadonlyArray<Import> = sources.flatMap((file) =>
  [
    ...textOf(file).matchAll(
      /^(?:import|export)[^"']*?from\s+"([^"]+)"|^import\s+"([^"]+)"|import\("([^"]+)"\)/gm
    )
  ].map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? ""
    return {
      file,
      line: textOf(file).slice(0, match.index).split("\n").length,
      typeOnly: match[0].startsWith("import type "),
      target: target.startsWith(".") ? relative(root, join(root, dirname(file), target)) : target
    }
  })
)

const folderOf = (file: string) => /^src\/([^/]+)\//.exec(file)?.[1]
const violations = (breaks: (one: Import) => boolean, remedy: string) =>
  imports.filter(breaks).map(({ file, target }) => `${file} imports ${target}: ${remedy}`)

const isContract = (file: string) => /\/Api\.ts$/.test(file)
const isTag = (file: string) => textOf(file).includes("static readonly layer")

/** A shortest path of imports from `start` back to it; none if there is no such path. */
const cycleOf = (
  start: string,
  targets: ReadonlyMap<string, ReadonlyArray<Import>>
): ReadonlyArray<Import> => {
  const ways: Array<ReadonlyArray<Import>> = [[]]
  const seen = new Set<string>()
  for (const way of ways)
    for (const one of targets.get(way.at(-1)?.target ?? start) ?? []) {
      if (one.target === start) return [...way, one]
      if (seen.has(one.target)) continue
      seen.add(one.target)
      ways.push([...way, one])
    }
  return []
}

/** A shortest cycle through each file that is on a cycle, each cycle once. */
const cyclesOf = (all: ReadonlyArray<Import>) => {
  const targets = Map.groupBy(all, ({ file }) => file)
  const cycles = new Map<string, ReadonlyArray<Import>>()
  for (const file of targets.keys()) {
    const cycle = cycleOf(file, targets)
    if (cycle.length > 0)
      cycles.set(
        cycle
          .map((one) => one.file)
          .toSorted()
          .join(),
        cycle
      )
  }
  return [...cycles.values()].map(
    (cycle) =>
      `${cycle.map(({ file, line, target }) => `${file}:${line} imports ${target}`).join(", ")}: give the type or function that both need a file.`
  )
}

describe("import rules", () => {
  test("there are imports to check, in twelve folders", () => {
    expect(imports.length).toBeGreaterThan(200)
    expect(new Set(sources.map(folderOf).filter((folder) => folder !== undefined))).toEqual(new Set(order))
  })

  test("a folder imports only the folders before it; handlers also import the whole contract", () => {
    expect(
      violations(
        ({ file, target }) => {
          const [from, to] = [folderOf(file), folderOf(target)]
          if (from === undefined || to === undefined) return false
          if (target === "src/app/Api.ts" && /\/Http\.ts$/.test(file)) return false
          return order.indexOf(to) > order.indexOf(from)
        },
        `the order is ${order.join(" < ")}. Move what both need into the lower folder, or the importing file up.`
      )
    ).toEqual([])
  })

  test("there are no cycles between files, including type imports", () => {
    expect(cyclesOf(imports)).toEqual([])
  })

  test("a cycle is reported as a shortest path of imports, with their lines", () => {
    const edge = (file: string, target: string, line: number): Import => ({
      file,
      target,
      line,
      typeOnly: false
    })
    expect(
      cyclesOf([
        edge("a", "b", 1),
        edge("b", "c", 2),
        edge("c", "d", 3),
        edge("c", "b", 4),
        edge("d", "e", 5)
      ])
    ).toEqual(["c:4 imports b, b:2 imports c: give the type or function that both need a file."])
  })

  test("the domain imports only effect, and a hash to derive a nonce", () => {
    expect(
      violations(
        ({ file, target }) =>
          file.startsWith("src/domain/") &&
          !target.startsWith("src/domain/") &&
          !/^effect(\/|$)/.test(target) &&
          !(file === "src/domain/authorizationNonce.ts" && target === "viem/utils"),
        "the domain is pure. Do this work in the folder that calls it."
      )
    ).toEqual([])
  })

  test("contracts import only the domain, other contracts and the shared HTTP contract", () => {
    const allowed =
      /^(effect(\/.*)?|src\/domain\/.*|src\/(.*\/)?(Api|[A-Z]\w*View)\.ts|src\/platform\/http\/(Access|ApiKeyAuth|Envelope|Mount|RequestRules)\.ts|src\/app\/openapi\/compactDocument\.ts|src\/dashboard\/api\/(Session|memberGroup)\.ts)$/
    expect(
      violations(
        ({ file, target }) => isContract(file) && !allowed.test(target),
        "an Api.ts holds schemas and endpoints. Move the schema it needs into domain or another Api.ts."
      )
    ).toEqual([])
  })

  test("endpoints are grouped only by `endpointGroup`, which makes them declare their callers", () => {
    const grouped = sources.filter((file) => textOf(file).includes("HttpApiGroup.make"))
    expect(grouped).toEqual(["src/platform/http/Access.ts"])
  })

  test("SQL is written only in repositories, migrations and the database's folder", () => {
    const repository = /(Repo|Sql|Database|System)\.ts$/
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          // The type of a layer's requirements is not SQL.
          !typeOnly &&
          /^effect\/sql|^@effect\/sql-pg/.test(target) &&
          !repository.test(file) &&
          !file.startsWith("migrations/") &&
          !file.startsWith("src/platform/database/") &&
          // LISTEN is not SQL either.
          !["src/webhooks/DeliveryWake.ts", "src/webhooks/DeliveryWorker/WakeListener.ts"].includes(file),
        "write the statement in a …Repo.ts or …Sql.ts."
      )
    ).toEqual([])
  })

  test("a migration imports only effect: an applied migration never changes", () => {
    expect(
      violations(
        ({ file, target }) => file.startsWith("migrations/") && !/^effect(\/|$)/.test(target),
        "write it down in the migration, as text."
      )
    ).toEqual([])
  })

  test("each migration is listed in src/platform/database/migrations.ts, and no other runs", () => {
    expect(
      imports
        .filter(({ file }) => file === "src/platform/database/migrations.ts")
        .map(({ target }) => target)
        .filter((target) => target.startsWith("migrations/"))
    ).toEqual(sources.filter((file) => file.startsWith("migrations/")))
  })

  test("only programs import App", () => {
    const programs = /^src\/app\/(service|cli\/main|dev\/demo)\.ts$/
    expect(
      violations(
        ({ file, target }) => target === "src/app/App.ts" && !programs.test(file),
        "App.ts wires; ask for the service instead."
      )
    ).toEqual([])
  })

  test("nothing outside development imports development or test code", () => {
    expect(
      violations(
        ({ file, target }) =>
          (target.startsWith("src/app/dev/") && !file.startsWith("src/app/dev/")) ||
          target.startsWith("test/"),
        "it is not in the image."
      )
    ).toEqual([])
  })

  test("the client library imports only itself; types of the contract cost nothing", () => {
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          file.startsWith("src/packages/client/") && !typeOnly && !target.startsWith("src/packages/client/"),
        "the client runs without dependencies on Node, Deno and workers."
      )
    ).toEqual([])
  })

  test("browser code of the checkout imports only browser code, and types", () => {
    // Pages and documents are served, not imported.
    const browser = /^src\/checkout\/(component|pages)\/(?!.*(Pages|[Dd]ocuments?)\.ts$)/
    const own =
      /^src\/checkout\/(component|pages)\/|^src\/platform\/pages\/browser\/|^src\/payments\/(buyers\/createDidToken|receipts\/catalogues)\.ts$|^src\/domain\/networks\.ts$|\.json$/
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          browser.test(file) &&
          !typeOnly &&
          !own.test(target) &&
          // The playground's wallet signs with viem; the component is too small for it.
          !(file === "src/checkout/pages/burnerWallet.ts" && target === "viem/accounts") &&
          !(target === "uqr"),
        "a buyer's browser would load it."
      )
    ).toEqual([])
  })

  test("the parts of a service are private to its folder: others go through the service", () => {
    const wiring = ["src/app/App.ts", "src/app/Routes.ts", "src/app/DashboardRoutes.ts"]
    const isPart = (target: string) => {
      const parts = target.split("/")
      return parts
        .slice(0, -1)
        .some((_, depth) => depth > 1 && existsSync(join(root, `${parts.slice(0, depth + 1).join("/")}.ts`)))
    }
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          target.startsWith("src/") &&
          // Programs read settings before the configuration exists.
          !target.startsWith("src/platform/AppConfig/") &&
          !typeOnly &&
          !wiring.includes(file) &&
          isPart(target) &&
          folderOf(file) !== folderOf(target),
        "X/… is what X.ts is made of. Ask X, or move the file to the folder's top."
      )
    ).toEqual([])
  })

  test("an implementation of a tag imports it only as a type", () => {
    expect(
      violations(
        ({ file, target, typeOnly }) => !typeOnly && `${dirname(file)}.ts` === target && isTag(target),
        "X/… may not need X.ts at run time."
      )
    ).toEqual([])
  })

  test("no file of src has more than 400 lines", () => {
    const own = sources.filter((file) => file.startsWith("src/"))
    expect(own.filter((file) => textOf(file).split("\n").length > 401)).toEqual([])
  })

  test("the README's layout matches the tree", () => {
    const layout = textOf("README.md")
    const named = [...layout.matchAll(/^ {2}([a-z0-9]+)\//gm)].map(([, name = ""]) => name)
    expect(named.toSorted()).toEqual(order.toSorted())
  })

  test("no type has the name of another folder's type", () => {
    // Packages and browser code are programs of their own.
    const own = /^src\/(packages|checkout\/(component|pages)|dashboard\/browser)\//
    const places = new Map<string, Array<string>>()
    for (const file of sources.filter((one) => !own.test(one)))
      for (const [, name = ""] of textOf(file).matchAll(/^export (?:interface|class|type) (\w+)/gm))
        places.set(name, [...new Set([...(places.get(name) ?? []), file])])
    expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
  })

  test("a file with one export is named after it, and a service's tag after its folder", () => {
    // A migration's name is its number and what it does.
    const misnamed = sources.filter((file) => {
      if (file.startsWith("migrations/")) return false
      const text = textOf(file)
      const base = (file.split("/").at(-1) ?? "").replace(/\.tsx?$/, "").toLowerCase()
      const names = [
        ...text.matchAll(
          /^export (?:declare |abstract )?(?:const|class|function\*?|async function|interface|type) (\w+)/gm
        )
      ].map((one) => (one[1] ?? "").toLowerCase())
      const named = (name: string) => name === "layer" || name.includes(base) || base.includes(name)
      const strange = [...text.matchAll(/"quittance\/(?:(\w+)\/)?[A-Z]\w*"/g)].some(
        (one) => one[1] !== folderOf(file)
      )
      return strange || (new Set(names).size === 1 && !names.some(named))
    })
    expect(misnamed).toEqual([])
  })

  test("there are no barrels, and no folder has a meaningless name", () => {
    const files = [...new Glob("src/**/*").scanSync(root)]
    expect(
      files.filter((file) => /(^|\/)(index\.ts|utils?|helpers?|common|types)(\/|\.ts$|$)/.test(file))
    ).toEqual([])
  })
})
