// `bun run openapi [FILE]`: writes the OpenAPI document, to `dist/openapi.json` by default.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { Effect } from "effect"
import { openApiDocument } from "./Documents.ts"

const file = process.argv[2] ?? "dist/openapi.json"
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(Effect.runSync(openApiDocument("http://localhost:8787")))}\n`)
console.log(`Wrote the OpenAPI document to ${file}. A running service serves it at /openapi.json.`)
