// The files for operators' deployments: their settings exist, and their ports and paths are the service's.
import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Predicate } from "effect"
import { SecureRandom } from "effect/crypto"
import { variables } from "../../src/platform/AppConfig/settings.ts"
import { loadAppConfig } from "../../src/platform/AppConfig.ts"
import { systemPaths } from "../../src/platform/http/System.ts"

const ops = join(import.meta.dir, "../../ops")
const isSetting = (name: string) => variables.has(name.replace(/_FILE$/, ""))
const childOf = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (at, key) => (Predicate.isObject(at) || Array.isArray(at) ? Reflect.get(at, key) : undefined),
    value
  )

test("kubernetes.yaml sets only known settings, and its parts match each other", () => {
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
  `systemd accepts quittance.service${analyze === null ? ": systemd-analyze is not installed" : ""}`,
  () => {
    const file = join(ops, "quittance.service")
    const { exitCode, stderr } = Bun.spawnSync([analyze ?? "", "verify", "--man=no", file])
    expect({ exitCode, told: stderr.toString() }).toEqual({ exitCode: 0, told: "" })
  }
)
/** The options by which an image or a unit limits the runtime's memory. */
const runtimeOptions = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/\b((?:BUN_JSC|MIMALLOC)_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
  )

test("quittance.service sets only known settings, and the same runtime options as the image", () => {
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

const compose: unknown = Bun.YAML.parse(readFileSync(join(ops, "../docker-compose.yml"), "utf8"))

/** The environment of one of compose's services, with `given` in compose's own environment. */
const composed = (service: string, given: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(Object(childOf(compose, "services", service, "environment"))).map(([name, value]) => [
      name,
      String(value).replace(
        /\$\{(\w+):-([^}]*)\}/,
        (_, of: string, otherwise: string) => given[of] ?? otherwise
      )
    ])
  )

test.each(["quittance", "backup"])(
  "compose passes all that %s needs: no setting is refused",
  async (service) => {
    const secrets = mkdtempSync(join(tmpdir(), "quittance-compose-"))
    const { exitCode } = Bun.spawnSync(["bun", "src/app/cli/main.ts", "init", "--secrets", secrets], {
      cwd: join(ops, "..")
    })
    expect(exitCode).toBe(0)
    const env = Object.entries(composed(service, { BASE_URL: "https://pay.example.com" })).map(
      ([name, value]) => [name, value.replace(/^\/secrets/, secrets)]
    )
    const exit = await Effect.runPromiseExit(
      loadAppConfig({ ...Object.fromEntries(env), DATA_DIR: secrets }).pipe(
        Effect.provide(SecureRandom.layerWebCrypto)
      )
    )
    expect(Exit.isSuccess(exit) ? "" : String(exit.cause)).toBe("")
  }
)

test("a failed backup of compose is retried within the hour, not a day later", () => {
  const bin = mkdtempSync(join(tmpdir(), "quittance-compose-"))
  const program = (name: string, text: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  program("bun", "exit 1")
  program("sleep", 'echo "$1"; kill $PPID')
  const script = String(childOf(compose, "services", "backup", "command", 2)).replaceAll("$$", "$")
  const { stdout } = Bun.spawnSync(["sh", "-c", script], { env: { PATH: `${bin}:${process.env["PATH"]}` } })
  const [told, slept] = stdout.toString().trim().split("\n")
  expect(told).toBe("The backup failed. The next attempt is in 10 minutes.")
  expect(Number(slept)).toBeLessThanOrEqual(3_600)
})
