// The files in ops/ and of the image, compared with what the service exports and reads.
import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { variables } from "../../../src/platform/AppConfig/settings.ts"

const root = join(import.meta.dir, "../../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

const sources = [...new Glob("src/**/*.ts").scanSync(root)]
  .map(read)
  .filter((text) =>
    /\b(counterBy|counterOf|gaugeBy|secondsBy|Metric\.(counter|gauge|histogram))\(/.test(text)
  )
  .join("\n")
/** Metric names as the code declares them, with the series that a histogram adds. */
const exported = new Set(
  [...sources.matchAll(/"((?:quittance|process)_[a-z0-9_]+)"/g)].flatMap(([, name = ""]) =>
    name.endsWith("_seconds") ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
  )
)
const namesIn = (expression: string) => expression.match(/\b(?:quittance|process)_[a-z0-9_]+/g) ?? []

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string }
}
const { groups } = Bun.YAML.parse(read("ops/alerts.yml")) as {
  groups: ReadonlyArray<{ rules: ReadonlyArray<Rule> }>
}
const rules = groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(read("ops/dashboard.json")) as {
  panels: ReadonlyArray<{
    id: number
    title: string
    gridPos: { x: number; y: number; w: number; h: number }
    targets: ReadonlyArray<{ expr: string }>
  }>
}

describe("ops", () => {
  test("alert rules and dashboard use only metrics that exist, and every one of them", () => {
    const expressions = [
      ...rules.map((rule) => rule.expr),
      ...dashboard.panels.flatMap((panel) => panel.targets.map((target) => target.expr))
    ]
    const used = new Set(expressions.flatMap(namesIn))
    expect([...used].filter((name) => !exported.has(name))).toEqual([])
    const bases = [...exported].filter((name) => !/_(bucket|count|sum)$/.test(name))
    expect(bases.filter((base) => ![...used].some((name) => name.startsWith(base)))).toEqual([])
    for (const expression of expressions) {
      const opened = expression.match(/[([{]/g)?.length ?? 0
      expect(expression.match(/[)\]}]/g)?.length ?? 0, expression).toBe(opened)
    }
  })

  test("every alert has a severity and says what to do; names are unique", () => {
    expect(new Set(rules.map((rule) => rule.alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect(["page", "ticket"], alert).toContain(labels.severity)
      expect(annotations.summary.length, alert).toBeGreaterThan(10)
      expect(annotations.action.length, alert).toBeGreaterThan(10)
    }
  })

  test("panels have unique ids and do not overlap", () => {
    expect(new Set(dashboard.panels.map((panel) => panel.id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`)
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})

describe("the image", () => {
  const compose = Bun.YAML.parse(read("docker-compose.yml")) as {
    services: Record<
      string,
      {
        environment?: Record<string, string>
        ports?: ReadonlyArray<string>
        profiles?: unknown
        user?: string
        command?: ReadonlyArray<string>
        volumes?: ReadonlyArray<string>
      }
    >
    volumes: Record<string, unknown>
  }
  const dockerfile = read("Dockerfile")

  test("docker-compose.yml sets only variables that the service reads, and publishes no metrics", () => {
    const { quittance, postgres, chain } = compose.services
    expect(postgres).toBeDefined()
    expect(chain?.profiles).toEqual(["chain"])
    for (const name of Object.keys(quittance?.environment ?? {}).filter(
      (one) => one !== "OTEL_RESOURCE_ATTRIBUTES"
    )) {
      expect([...variables]).toContain(name.replace(/_FILE$/, ""))
    }
    expect(
      quittance?.ports?.some((port) => port.includes(quittance.environment?.["METRICS_PORT"] ?? "?"))
    ).toBeFalse()
  })

  test("docker-compose.yml passes every setting, is production, publishes locally and has no secret", () => {
    const { chain, postgres, quittance } = compose.services
    const { init } = compose.services
    // POSTGRES_PASSWORD is the database's own; the service reads it in DATABASE_URL.
    const settings = [...variables].filter((name) => name !== "POSTGRES_PASSWORD")
    const documented = [
      ...read("docs/configuration.md").matchAll(/^\| (`[A-Z][A-Z0-9_]+`(?:, `[A-Z0-9_]+`)*) \|/gm)
    ]
      .flatMap(([, names = ""]) => names.split(", "))
      .map((name) => name.replaceAll("`", ""))
    expect(documented.toSorted()).toEqual(settings.toSorted())
    // The image sets these itself.
    const fixed = ["HOST", "PORT", "DATA_DIR", "METRICS_PORT", "METRICS_HOST"]
    const passed = Object.entries({ ...quittance?.environment, ...init?.environment })
      .filter(([name, value]) => value.startsWith(`\${${name}:-`))
      .map(([name]) => name)
    expect(passed.filter((name) => name !== "POSTGRES_PASSWORD").toSorted()).toEqual(
      documented.filter((name) => !fixed.includes(name)).toSorted()
    )
    // Only the TLS proxy, if it is enabled, is reachable from outside.
    const { caddy, ...inside } = compose.services
    expect(caddy?.profiles).toEqual(["tls"])
    for (const { ports = [] } of Object.values(inside))
      for (const port of ports) expect(port).toContain("127.0.0.1:")
    expect(quittance?.environment?.["ENVIRONMENT"]).toEndWith(":-production}")
    expect(postgres?.environment?.["POSTGRES_PASSWORD_FILE"]).toBe("/secrets/postgres-password")
    // Every secret comes from a file that the first start creates.
    expect(init?.command).toEqual(["bun", "src/app/cli/main.ts", "init", "--secrets", "/secrets"])
    for (const name of Object.keys(init?.environment ?? {}).filter((one) => one !== "POSTGRES_PASSWORD"))
      expect(quittance?.environment?.[`${name}_FILE`]).toStartWith("/secrets/")
    expect([chain?.user, chain?.volumes]).toEqual(["bun", [".:/app:ro"]])
  })

  test("the Dockerfile copies only existing files, runs unprivileged, and has a health check", () => {
    for (const [, from = ""] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
      for (const path of from.split(" ")) expect(existsSync(join(root, path)), path).toBeTrue()
    const user = dockerfile.indexOf("USER bun")
    expect(user).toBeGreaterThan(0)
    expect(dockerfile.indexOf("CMD [")).toBeGreaterThan(user)
    expect(dockerfile).toContain("HEALTHCHECK")
    expect(dockerfile).toContain('CMD ["bun", "dist/main.js"]')
  })
})
