// `bun run sbom`: what the service runs on, as CycloneDX 1.6 on standard output. Packages, versions and hashes
// are the lockfile's; licences are read from what is installed. Bun and what packages carry in them are added.
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library"
import { JSONC } from "bun"
import { Schema } from "effect"

const root = join(import.meta.dir, "../..")

const Names = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
const Needs = Schema.Struct({ dependencies: Names, optionalDependencies: Names })
/** `name@version`, registry, what it needs, integrity. */
const Package = Schema.Tuple([Schema.String, Schema.String, Needs, Schema.String])
const Lockfile = Schema.Struct({
  workspaces: Schema.Struct({ "": Needs }),
  packages: Schema.Record(Schema.String, Package),
  patchedDependencies: Names
})
const Manifest = Schema.Struct({ name: Schema.String, version: Schema.String })
const Licensed = Schema.Struct({ license: Schema.optionalKey(Schema.String) })

const text = (path: string) => readFileSync(join(root, path), "utf8")
const lockfile = Schema.decodeUnknownSync(Lockfile)(JSONC.parse(text("bun.lock")))
const manifest = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))(text("package.json"))

const needsOf = ({ dependencies = {}, optionalDependencies = {} }: typeof Needs.Type) => [
  ...Object.keys(dependencies),
  ...Object.keys(optionalDependencies)
]

/** Where `name`, needed by the package at `from`, is found: in its own directory, or in one above. */
const resolve = (from: string, name: string): string | undefined => {
  for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf("/")))) {
    const path = above === "" ? name : `${above}/${name}`
    if (path in lockfile.packages) return path
    if (above === "") return undefined
  }
}

/** Paths of what the service needs at run time, with what each needs itself. */
const reached = () => {
  const found = new Map<string, ReadonlyArray<string>>()
  const waiting = [""]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const needs = path === "" ? lockfile.workspaces[""] : lockfile.packages[path]?.[2]
    const paths = needsOf(needs ?? {}).flatMap((name) => resolve(path, name) ?? [])
    found.set(path, paths)
    waiting.push(...paths)
  }
  return found
}

/** `a/@b/c` of the lockfile is installed at a/node_modules/@b/c, or further up, as resolution finds it. */
const licenseOf = (path: string): string | undefined => {
  const names = path.match(/(?:@[^/]+\/)?[^/]+/g) ?? []
  for (const depth of names.keys()) {
    const nested = [...names.slice(0, names.length - 1 - depth), ...names.slice(-1)]
    const file = `node_modules/${nested.join("/node_modules/")}/package.json`
    if (existsSync(join(root, file)))
      return Schema.decodeUnknownSync(Schema.fromJsonString(Licensed))(text(file)).license
  }
  // Built for another platform: not installed here.
  return undefined
}

const componentOf = (path: string) => {
  const [nameAtVersion = "", , , integrity = ""] = lockfile.packages[path] ?? []
  const at = nameAtVersion.lastIndexOf("@")
  const [fullName, version] = [nameAtVersion.slice(0, at), nameAtVersion.slice(at + 1)]
  const [group, name] = fullName.startsWith("@") ? fullName.split("/") : [undefined, fullName]
  const component = new Models.Component(Enums.ComponentType.Library, name ?? fullName, {
    version,
    bomRef: nameAtVersion,
    purl: `pkg:npm/${fullName.replace("@", "%40")}@${version}`,
    ...(group === undefined ? {} : { group })
  })
  const [algorithm, hash] = integrity.split("-")
  if (algorithm === "sha512" && hash !== undefined)
    component.hashes.set(Enums.HashAlgorithm["SHA-512"], Buffer.from(hash, "base64").toString("hex"))
  const license = licenseOf(path)
  if (license !== undefined) component.licenses.add(new Models.LicenseExpression(license))
  const patch = lockfile.patchedDependencies?.[nameAtVersion]
  if (patch !== undefined) component.properties.add(new Models.Property("quittance:patch", patch))
  return component
}

/** What no package manager installs: the runtime, and the script of an API reference, which effect carries in its sources. */
const carried = () => {
  const bun = new Models.Component(Enums.ComponentType.Platform, "bun", {
    version: Bun.version,
    bomRef: `bun@${Bun.version}`,
    purl: `pkg:github/oven-sh/bun@bun-v${Bun.version}`
  })
  bun.licenses.add(new Models.LicenseExpression("MIT"))
  const path = "node_modules/effect/src/http-api/internal/httpApiScalar.ts"
  const script = text(path)
  const version = /@scalar\/api-reference@(\d+\.\d+\.\d+)\//.exec(script)?.[1]
  if (version === undefined)
    throw new Error(`${path} does not say which version of @scalar/api-reference it holds: look it up`)
  const scalar = new Models.Component(Enums.ComponentType.Library, "api-reference", {
    version,
    group: "@scalar",
    bomRef: `@scalar/api-reference@${version}`,
    purl: `pkg:npm/%40scalar/api-reference@${version}`
  })
  scalar.licenses.add(new Models.LicenseExpression("MIT"))
  scalar.hashes.set(
    Enums.HashAlgorithm["SHA-512"],
    new Bun.CryptoHasher("sha512").update(script).digest("hex")
  )
  scalar.properties.add(new Models.Property("quittance:carried-in", path))
  return { bun, scalar }
}

const bom = new Models.Bom()
const service = new Models.Component(Enums.ComponentType.Application, manifest.name, {
  version: manifest.version,
  bomRef: `${manifest.name}@${manifest.version}`
})
bom.metadata.component = service
const paths = reached()
const components = new Map([...paths.keys()].map((path) => [path, path === "" ? service : componentOf(path)]))
for (const [path, needs] of paths) {
  const component = components.get(path)
  if (component === undefined) continue
  if (path !== "") bom.components.add(component)
  for (const need of needs) {
    const ref = components.get(need)?.bomRef
    if (ref !== undefined) component.dependencies.add(ref)
  }
}

const { bun, scalar } = carried()
bom.components.add(bun)
bom.components.add(scalar)
service.dependencies.add(bun.bomRef)
components.get("effect")?.dependencies.add(scalar.bomRef)

console.log(
  new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)).serialize(bom, {
    sortLists: true,
    space: 2
  })
)
