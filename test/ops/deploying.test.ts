// The files that operators deploy by: their settings exist, their ports and paths are the service's.
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Predicate } from "effect"
import { variables } from "../../src/AppConfig/settings.ts"
import { systemPaths } from "../../src/http/System.ts"

const ops = join(import.meta.dir, "../../ops")
const isSetting = (name: string) => variables.has(name.replace(/_FILE$/, ""))
const childOf = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (at, key) => (Predicate.isObject(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined),
    value
  )

test("kubernetes.yaml sets what is a setting, and its parts find each other", () => {
  const documents: unknown = Bun.YAML.parse(readFileSync(join(ops, "kubernetes.yaml"), "utf8"))
  const all: ReadonlyArray<unknown> = Array.isArray(documents) ? documents : []
  const of = (kind: string) => all.find((one) => childOf(one, "kind") === kind)
  expect(all.map((one) => childOf(one, "kind"))).toEqual([
    "ServiceAccount",
    "ConfigMap",
    "Deployment",
    "Service",
    "PodDisruptionBudget",
    "Ingress"
  ])
  expect(Object.keys(Object(childOf(of("ConfigMap"), "data"))).filter((name) => !isSetting(name))).toEqual([])
  for (const value of Object.values(Object(childOf(of("ConfigMap"), "data")))) expect(value).toBeString()
  const container = childOf(of("Deployment"), "spec", "template", "spec", "containers", 0)
  for (const probe of ["readinessProbe", "livenessProbe"])
    expect(systemPaths).toContain(String(childOf(container, probe, "httpGet", "path")))
  const labels = childOf(of("Deployment"), "spec", "template", "metadata", "labels")
  for (const selector of [
    childOf(of("Deployment"), "spec", "selector", "matchLabels"),
    childOf(of("Service"), "spec", "selector"),
    childOf(of("PodDisruptionBudget"), "spec", "selector", "matchLabels")
  ])
    expect(selector).toEqual(labels)
})

const analyze = Bun.which("systemd-analyze")
test.skipIf(analyze === null)(
  `systemd takes quittance.service${analyze === null ? ": systemd-analyze is not installed" : ""}`,
  () => {
    const file = join(ops, "quittance.service")
    const { exitCode, stderr } = Bun.spawnSync([analyze ?? "", "verify", "--man=no", file])
    expect({ exitCode, told: stderr.toString() }).toEqual({ exitCode: 0, told: "" })
  }
)
/** How an image or a unit bounds the runtime's memory. */
const runtimeOptions = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/\b((?:BUN_JSC|MIMALLOC)_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )

test("quittance.service sets what is a setting, and of the runtime's options what the image sets", () => {
  const text = readFileSync(join(ops, "quittance.service"), "utf8")
  const image = runtimeOptions(readFileSync(join(ops, "../Dockerfile"), "utf8"))
  const names = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, pairs = ""]) =>
    pairs.split(" ").map((pair) => pair.split("=")[0] ?? "")
  )
  expect(names.length).toBeGreaterThan(5)
  expect(Object.keys(image).length).toBeGreaterThan(3)
  expect(names.filter((name) => !isSetting(name) && !Object.hasOwn(image, name))).toEqual([])
  expect(runtimeOptions(text)).toEqual(image)
})
