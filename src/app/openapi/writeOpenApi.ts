// `bun run openapi [FILE]`: writes the OpenAPI document, `openapi.json` by default.
import { writeFileSync } from "node:fs"
import { Effect } from "effect"
import { openApiDocument } from "./Documents.ts"

const file = process.argv[2] ?? "openapi.json"
writeFileSync(file, `${JSON.stringify(Effect.runSync(openApiDocument("http://localhost:8787")), null, 2)}\n`)
console.log(`Wrote the OpenAPI document to ${file}. A running service serves it at /openapi.json.`)
