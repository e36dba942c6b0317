// The architecture's rules, read off the sources. Each failure names the import and what to do.
import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "..")

/** From the bottom up: a folder imports itself and those before it. */
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

/** Cycles of files: sets in which each file reaches each other one. */
const cycles = () => {
  const targets = Map.groupBy(
    imports.filter(({ target }) => target.startsWith("src/")),
    ({ file }) => file
  )
  const found: Array<ReadonlyArray<string>> = []
  const indices = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: Array<string> = []
  const visit = (file: string): number => {
    const index = indices.size
    indices.set(file, index)
    lowest.set(file, index)
    stack.push(file)
    for (const { target } of targets.get(file) ?? []) {
      const seen = indices.get(target)
      const reached = seen === undefined ? visit(target) : stack.includes(target) ? seen : index
      lowest.set(file, Math.min(lowest.get(file) ?? index, reached))
    }
    const low = lowest.get(file) ?? index
    if (low === index) {
      const cycle = stack.splice(stack.indexOf(file))
      if (cycle.length > 1) found.push(cycle)
    }
    return low
  }
  for (const file of sources) if (!indices.has(file)) visit(file)
  return found
}

describe("import rules", () => {
  test("there are imports to judge, in twelve folders", () => {
    expect(imports.length).toBeGreaterThan(200)
    expect(new Set(sources.map(folderOf).filter((folder) => folder !== undefined))).toEqual(new Set(order))
  })

  test("a folder imports those before it alone; handlers also import the whole contract", () => {
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

  test("no cycles between files, also of types", () => {
    expect(
      cycles().map((cycle) => `${cycle.join(" -> ")}: give the type or function that both need a file.`)
    ).toEqual([])
  })

  test("the domain imports effect alone, and a hash where it derives one", () => {
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

  test("contracts import domain, other contracts and the shared HTTP contract", () => {
    const allowed =
      /^(effect(\/.*)?|src\/domain\/.*|src\/(.*\/)?Api\.ts|src\/platform\/http\/(Access|ApiKeyAuth|Envelope|Mount|RequestRules)\.ts|src\/app\/openapi\/compactDocument\.ts|src\/dashboard\/api\/(Session|memberGroup)\.ts)$/
    expect(
      violations(
        ({ file, target }) => isContract(file) && !allowed.test(target),
        "an Api.ts holds schemas and endpoints. Move the schema it needs into domain or another Api.ts."
      )
    ).toEqual([])
  })

  test("endpoints are grouped by `endpointGroup` alone, which wants to know who may call them", () => {
    const grouped = sources.filter((file) => textOf(file).includes("HttpApiGroup.make"))
    expect(grouped).toEqual(["src/platform/http/Access.ts"])
  })

  test("SQL is written in repositories, migrations and the database's folder alone", () => {
    const repository = /(Repo|Sql|Database|System)\.ts$/
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          // The type of what a layer needs is not SQL.
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

  test("nothing but programs imports App", () => {
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

  test("the client library stands on nothing but itself; types of the contract cost nothing", () => {
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          file.startsWith("src/packages/client/") && !typeOnly && !target.startsWith("src/packages/client/"),
        "the client runs without dependencies on Node, Deno and workers."
      )
    ).toEqual([])
  })

  test("browser code of the checkout imports browser code alone, and types", () => {
    // Pages and documents are served.
    const browser = /^src\/checkout\/(component|pages)\/(?!.*(Pages|documents)\.ts$)/
    const own =
      /^src\/checkout\/(component|pages)\/|^src\/platform\/pages\/browser\/|^src\/payments\/(buyers\/createDidToken|receipts\/catalogues)\.ts$|^src\/domain\/networks\.ts$|\.json$/
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          browser.test(file) &&
          !typeOnly &&
          !own.test(target) &&
          // The playground's wallet signs with viem; the component weighs too little for it.
          !(file === "src/checkout/pages/burnerWallet.ts" && target === "viem/accounts") &&
          !(target === "uqr"),
        "a buyer's browser would load it."
      )
    ).toEqual([])
  })

  test("what a service is made of is its folder's own: others go through the service", () => {
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
          // Programs read settings before there is a configuration.
          !target.startsWith("src/platform/AppConfig/") &&
          !typeOnly &&
          !wiring.includes(file) &&
          isPart(target) &&
          folderOf(file) !== folderOf(target),
        "X/… is what X.ts is made of. Ask X, or move the file to the folder's top."
      )
    ).toEqual([])
  })

  test("what implements a tag imports it as a type alone", () => {
    expect(
      violations(
        ({ file, target, typeOnly }) => !typeOnly && `${dirname(file)}.ts` === target && isTag(target),
        "X/… may not need X.ts at run time."
      )
    ).toEqual([])
  })

  test("the README's layout is the tree", () => {
    const layout = textOf("README.md").split("How the code is laid out")[1] ?? ""
    const named = [...layout.matchAll(/^ {2}([a-z0-9]+)\//gm)].map(([, name = ""]) => name)
    expect(named.toSorted()).toEqual(order.toSorted())
  })

  test("no type has the name of another folder's", () => {
    // Packages and browser code are programs of their own.
    const own = /^src\/(packages|checkout\/(component|pages)|dashboard\/browser)\//
    const places = new Map<string, Array<string>>()
    for (const file of sources.filter((one) => !own.test(one)))
      for (const [, name = ""] of textOf(file).matchAll(/^export (?:interface|class|type) (\w+)/gm))
        places.set(name, [...new Set([...(places.get(name) ?? []), file])])
    expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
  })

  test("a file with one export is named after it, and a service's tag after its folder", () => {
    const misnamed = sources.filter((file) => {
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
    expect(misnamed).toEqual(["migrations/0001_initial.ts"])
  })

  test("no barrels, no folders named after nothing", () => {
    const files = [...new Glob("src/**/*").scanSync(root)]
    expect(
      files.filter((file) => /(^|\/)(index\.ts|utils?|helpers?|common|types)(\/|\.ts$|$)/.test(file))
    ).toEqual([])
  })
})
