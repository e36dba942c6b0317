// The bill of materials: a valid CycloneDX document that names what the lockfile holds.
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Spec, Validation } from "@cyclonedx/cyclonedx-library"
import { dependencies } from "../../package.json"

test("the bill of materials is valid and holds every package that runs, with its hash", async () => {
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, "src/dev/sbom.ts"], {
    cwd: join(import.meta.dir, "../..")
  })
  expect(exitCode).toBe(0)
  const text = stdout.toString()
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
  const { components, dependencies: graph } = JSON.parse(text)
  const purls: ReadonlyArray<string> = components.map(({ purl }: { readonly purl: string }) => purl)
  for (const [name, version] of Object.entries(dependencies))
    expect(purls).toContain(`pkg:npm/${name.replace("@", "%40")}@${version}`)
  // What no package manager installs: the runtime, which is the image's, and a script that effect carries.
  const root = join(import.meta.dir, "../..")
  const image = /^FROM oven\/bun:([\d.]+)-slim$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"))?.[1]
  expect(purls).toContain(`pkg:github/oven-sh/bun@bun-v${image}`)
  const scalar = components.find(({ group }: { readonly group?: string }) => group === "@scalar")
  expect(readFileSync(join(root, scalar.properties[0].value), "utf8")).toContain(
    `/npm/@scalar/api-reference@${scalar.version}/`
  )
  const effect = graph.find(({ ref }: { readonly ref: string }) => ref.startsWith("effect@"))
  expect(effect.dependsOn).toContain(scalar["bom-ref"])
  for (const { hashes, licenses, name, type } of components) {
    if (type === "platform") continue
    expect([name, hashes?.[0]?.content]).toEqual([name, expect.stringMatching(/^[0-9a-f]{128}$/)])
    // Another platform's package is not installed, and its licence not read.
    if (!name.match(/darwin|arm64/)) expect([name, licenses?.length]).toEqual([name, 1])
  }
  // What only tests and tools use is no part of the service.
  expect(text).not.toContain("playwright")
  const own = graph.find(({ ref }: { readonly ref: string }) => ref.startsWith("quittance@"))
  expect(own.dependsOn.length).toBeGreaterThanOrEqual(Object.keys(dependencies).length)
})
