// The architecture's import rules, read off the sources.
import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "..")

interface Import {
  readonly file: string
  readonly target: string
  readonly typeOnly: boolean
}

const imports: ReadonlyArray<Import> = [...new Glob("{src,migrations}/**/*.{ts,tsx}").scanSync(root)].flatMap(
  (file) => {
    const text = readFileSync(join(root, file), "utf8")
    return [
      ...text.matchAll(/^(?:import|export)[^"']*?from\s+"([^"]+)"|^import\s+"([^"]+)"|import\("([^"]+)"\)/gm)
    ].map((match) => {
      const target = match[1] ?? match[2] ?? match[3] ?? ""
      return {
        file,
        typeOnly: match[0].startsWith("import type "),
        target: target.startsWith(".") ? relative(root, join(root, dirname(file), target)) : target
      }
    })
  }
)

const violations = (breaks: (one: Import) => boolean) =>
  imports.filter(breaks).map(({ file, target }) => `${file} -> ${target}`)

const isTag = (file: string) => readFileSync(join(root, file), "utf8").includes("static readonly layer")

describe("import rules", () => {
  test("there are imports to judge", () => expect(imports.length).toBeGreaterThan(200))

  test("the domain imports effect alone, and a hash where it derives one", () => {
    expect(
      violations(
        ({ file, target }) =>
          file.startsWith("src/domain/") &&
          !target.startsWith("src/domain/") &&
          !/^effect(\/|$)/.test(target) &&
          !(file === "src/domain/authorizationNonce.ts" && target === "viem/utils")
      )
    ).toEqual([])
  })

  test("contracts import domain, other contracts and the shared HTTP contract", () => {
    const contract = /^src\/(.*\/)?Api\.ts$/
    const allowed =
      /^(effect(\/.*)?|src\/domain\/.*|src\/(.*\/)?Api\.ts|src\/http\/(Access|ApiKeyAuth|Envelope|RequestRules)\.ts|src\/openapi\/compactDocument\.ts|src\/dashboard\/Session\.ts)$/
    expect(violations(({ file, target }) => contract.test(file) && !allowed.test(target))).toEqual([])
  })

  test("endpoints are grouped by `endpointGroup` alone, which wants to know who may call them", () => {
    const grouped = [...new Glob("src/**/*.ts").scanSync(root)].filter((file) =>
      readFileSync(join(root, file), "utf8").includes("HttpApiGroup.make")
    )
    expect(grouped).toEqual(["src/platform/http/Access.ts"])
  })

  test("SQL is written in repositories, migrations and the database room alone", () => {
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
          !["src/webhooks/DeliveryWake.ts", "src/webhooks/DeliveryWorker/WakeListener.ts"].includes(file)
      )
    ).toEqual([])
  })

  test("nothing but programs imports App", () => {
    const programs = /^src\/(service|cli\/main|dev\/demo)\.ts$/
    expect(violations(({ file, target }) => target === "src/app/App.ts" && !programs.test(file))).toEqual([])
  })

  test("nothing outside development imports development or test code", () => {
    expect(
      violations(
        ({ file, target }) =>
          (target.startsWith("src/app/dev/") && !file.startsWith("src/app/dev/")) ||
          target.startsWith("test/")
      )
    ).toEqual([])
  })

  test("the client library stands on nothing but itself; types of the contract cost nothing", () => {
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          file.startsWith("src/packages/client/") &&
          file !== "src/app/makeQuittance.ts" &&
          !typeOnly &&
          !target.startsWith("src/packages/client/")
      )
    ).toEqual([])
  })

  test("browser code of the checkout imports browser code alone, and types", () => {
    const own =
      /^src\/checkout\/(component|pages)\/|^src\/pages\/browser\/|^src\/buyers\/createDidToken\.ts$|^src\/domain\/networks\.ts$/
    expect(
      violations(
        ({ file, target, typeOnly }) =>
          /^src\/checkout\/(component|pages)\//.test(file) &&
          !typeOnly &&
          !own.test(target) &&
          // The playground's wallet signs with viem; the component weighs too little for it.
          !(file === "src/checkout/pages/burnerWallet.ts" && target === "viem/accounts") &&
          !(file === "src/checkout/component/qr.ts" && target === "uqr")
      )
    ).toEqual([])
  })

  test("what a service is made of is its room's own: others go through the service, or by a room's top", () => {
    const wiring = ["src/app/App.ts", "src/app/Routes.ts", "src/app/DashboardRoutes.ts"]
    const partOf = (target: string) => {
      const [, room, service, ...rest] = target.split("/")
      const door = `src/${room}/${service}`
      return rest.length > 0 && existsSync(join(root, `${door}.ts`)) ? room : undefined
    }
    expect(
      violations(({ file, target, typeOnly }) => {
        const room = typeOnly || wiring.includes(file) ? undefined : partOf(target)
        return room !== undefined && file.split("/")[1] !== room
      })
    ).toEqual([])
  })

  test("no circle between rooms; contracts stand apart", () => {
    const isContract = (file: string) => /\/Api\.ts$/.test(file)
    const roomOf = (file: string) => /^src\/([^/]+)\//.exec(file)?.[1]
    const rooms = new Map<string, Set<string>>()
    for (const { file, target } of imports) {
      const [from, to] = [roomOf(file), roomOf(target)]
      if (from === undefined || to === undefined || from === to || isContract(file) || isContract(target))
        continue
      rooms.set(from, (rooms.get(from) ?? new Set()).add(to))
    }
    const circleFrom = (room: string, way: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
      if (way.includes(room)) return [...way.slice(way.indexOf(room)), room]
      for (const next of rooms.get(room) ?? []) {
        const found = circleFrom(next, [...way, room])
        if (found !== undefined) return found
      }
      return undefined
    }
    expect(
      [...rooms.keys()].map((room) => circleFrom(room, [])).find((found) => found !== undefined)
    ).toBeUndefined()
  })

  test("what implements a tag imports it as a type alone", () => {
    // `X/…` may not need `X.ts` at run time: it is what X.ts is made of.
    expect(
      violations(
        ({ file, target, typeOnly }) => !typeOnly && `${dirname(file)}.ts` === target && isTag(target)
      )
    ).toEqual([])
  })

  test("the README's layout is the tree", () => {
    const layout = readFileSync(join(root, "README.md"), "utf8").split("How the code is laid out")[1] ?? ""
    const named = [...layout.matchAll(/(?:^|\s)([a-z0-9]+)\/(?=\s)/gm)].map(([, name = ""]) => name)
    const tops = new Set(new Glob("src/*.ts").scanSync(root))
    const rooms = [...new Glob("src/*/**").scanSync(root)]
      .map((file) => file.split("/")[1] ?? "")
      // What `X.ts` is made of is no room.
      .filter((room) => !tops.has(`src/${room}.ts`))
    expect(named.toSorted()).toEqual(
      [...new Set([...rooms, "src", "migrations", "test", "browser", "proxy"])].toSorted()
    )
  })

  test("no type has the name of another room's", () => {
    // The client library and browser code are programs of their own.
    const own = /^src\/(client|checkout\/(component|pages)|dashboard\/browser)\//
    const places = new Map<string, Array<string>>()
    for (const file of [...new Glob("src/**/*.ts").scanSync(root)].filter((one) => !own.test(one)))
      for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(
        /^export (?:interface|class|type) (\w+)/gm
      ))
        places.set(name, [...new Set([...(places.get(name) ?? []), file])])
    expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
  })

  test("a file with one export is named after it, and a service's tag after its room", () => {
    const misnamed = [...new Glob("src/**/*.{ts,tsx}").scanSync(root)].filter((file) => {
      const text = readFileSync(join(root, file), "utf8")
      const base = (file.split("/").at(-1) ?? "").replace(/\.tsx?$/, "").toLowerCase()
      const names = [
        ...text.matchAll(
          /^export (?:declare |abstract )?(?:const|class|function\*?|async function|interface|type) (\w+)/gm
        )
      ].map((one) => (one[1] ?? "").toLowerCase())
      const named = (name: string) => name === "layer" || name.includes(base) || base.includes(name)
      const room = /^src\/(\w+)\//.exec(file)?.[1]
      const strange = [...text.matchAll(/"quittance\/(?:(\w+)\/)?[A-Z]\w*"/g)].some((one) => one[1] !== room)
      return strange || (new Set(names).size === 1 && !names.some(named))
    })
    expect(misnamed).toEqual([])
  })

  test("no barrels, no rooms named after nothing", () => {
    const files = [...new Glob("src/**/*").scanSync(root)]
    expect(
      files.filter((file) => /(^|\/)(index\.ts|utils?|helpers?|common|types)(\/|\.ts$|$)/.test(file))
    ).toEqual([])
  })
})
