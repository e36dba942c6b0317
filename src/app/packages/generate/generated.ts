// Clients generated from the API's own description, for Python, PHP and WordPress.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { version } from "../../../../package.json"
import { contractDocument } from "../../openapi/Documents.ts"
import { wheelName } from "../wheelName.ts"
import { composerZipOf, type Files, pluginZipOf, wheelOf } from "./archives.ts"
import { operationsOf } from "./operationsOf.ts"
import { phpClient } from "./phpClient.ts"
import { pythonClient } from "./pythonClient.ts"

const packages = join(import.meta.dir, "../../../packages")
const document = Effect.runSync(contractDocument("https://pay.example.com"))
const operations = operationsOf(document)

const read = (...path: ReadonlyArray<string>) => readFileSync(join(packages, ...path), "utf8")
const licence = read("../../LICENSE")
const written = (language: string, ending: string): Files =>
  Object.fromEntries(
    readdirSync(join(packages, language))
      .filter((name) => name.endsWith(ending))
      .map((name) => [name, read(language, name)])
  )
const php = { ...written("php", ".php"), ...phpClient(document, operations) }
const composer = { ...JSON.parse(read("php/composer.json")), version }

/** The bytes of each archive. */
export const generated: Readonly<Record<string, () => Uint8Array>> = {
  [wheelName]: () =>
    wheelOf(
      version,
      { ...written("python", ".py"), ...pythonClient(document, operations) },
      read("python/README.md"),
      licence
    ),
  "php.zip": () => composerZipOf(JSON.stringify(composer, undefined, 2), php, read("php/README.md"), licence),
  "woocommerce.zip": () =>
    pluginZipOf(
      version,
      { ...written("woocommerce", ".php"), ...written("woocommerce", ".js") },
      php,
      licence
    )
}
