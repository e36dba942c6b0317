// Packages that pip and Composer install: a wheel (PEP 427) and a zip with a composer.json.
import { createHash } from "node:crypto"
import { zipSync } from "fflate"

/** Files by path. */
export type Files = Readonly<Record<string, string>>

/** Produces the same bytes for the same files. */
const zipOf = (files: Files): Uint8Array => {
  const encoder = new TextEncoder()
  return zipSync(
    Object.fromEntries(
      Object.entries(files)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([path, text]) => [path, encoder.encode(text)])
    ),
    { mtime: "1980-01-01T00:00:00" }
  )
}

/** A pure wheel of the package `quittance`. */
export const wheelOf = (version: string, modules: Files, readme: string, licence: string): Uint8Array => {
  const info = `quittance-${version}.dist-info`
  const files: Files = {
    ...Object.fromEntries(Object.entries(modules).map(([name, text]) => [`quittance/${name}`, text])),
    "quittance/py.typed": "",
    [`${info}/METADATA`]: `Metadata-Version: 2.4
Name: quittance
Version: ${version}
Summary: Quittance for a shop's server: typed calls, errors by code, webhooks.
License-Expression: MIT
License-File: LICENSE
Requires-Python: >=3.11
Description-Content-Type: text/markdown

${readme}`,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: quittance\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/licenses/LICENSE`]: licence
  }
  const record = Object.entries(files).map(
    ([path, text]) =>
      `${path},sha256=${createHash("sha256").update(text).digest("base64url")},${Buffer.byteLength(text)}`
  )
  return zipOf({ ...files, [`${info}/RECORD`]: `${[...record, `${info}/RECORD,,`].join("\n")}\n` })
}

/** `sources` are placed below `src/`. */
export const composerZipOf = (
  composer: string,
  sources: Files,
  readme: string,
  licence: string
): Uint8Array =>
  zipOf({
    "composer.json": composer,
    LICENSE: licence,
    "README.md": readme,
    ...Object.fromEntries(Object.entries(sources).map(([name, text]) => [`src/${name}`, text]))
  })

/** The plugin's folder in WordPress. */
const folder = "quittance"

/** A WordPress plugin; `client` is the PHP client in it. */
export const pluginZipOf = (version: string, plugin: Files, client: Files, licence: string): Uint8Array =>
  zipOf({
    [`${folder}/LICENSE`]: licence,
    ...Object.fromEntries(
      Object.entries(plugin).map(([name, text]) => [
        `${folder}/${name}`,
        text.replace(/^( \* Version: ).*$/m, `$1${version}`)
      ])
    ),
    ...Object.fromEntries(
      Object.entries(client)
        .filter(([name]) => name.endsWith(".php"))
        .map(([name, text]) => [`${folder}/client/${name}`, text])
    )
  })
