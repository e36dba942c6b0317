// The PHP client's generated classes: one per group of calls, and `Quittance` with all of them.
import { at, type Json, jsonAt, listAt, textAt } from "../../openapi/json.ts"
import type { Operation, Parameter } from "./operationsOf.ts"

const pascal = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** The type for PHPStan and Psalm; below `depth`, types are plain arrays. */
const shapeOf = (document: unknown, schema: Json, depth: number): string => {
  const ref = textAt(schema, "$ref")
  if (ref !== "")
    return shapeOf(document, jsonAt(document, "components", "schemas", ref.split("/").at(-1) ?? ""), depth)
  const values = listAt(schema, "enum")
  if (values.length > 0)
    return values.map((value) => (typeof value === "string" ? `'${value}'` : String(value))).join("|")
  const options = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")]
  if (options.length > 0)
    return [...new Set(options.map((option) => shapeOf(document, jsonAt(option), depth)))].join("|")
  switch (at(schema, "type")) {
    case "string":
      return "string"
    case "boolean":
      return "bool"
    case "integer":
      return "int"
    case "number":
      return "float"
    case "null":
      return "null"
    case "array":
      return `list<${shapeOf(document, jsonAt(schema, "items"), depth)}>`
    case "object": {
      const properties = Object.entries(jsonAt(schema, "properties"))
      if (properties.length === 0 || depth === 0) return "array<string, mixed>"
      const required = listAt(schema, "required")
      const fields = properties.map(
        ([key, property]) =>
          `${key}${required.includes(key) ? "" : "?"}: ${shapeOf(document, jsonAt(property), depth - 1)}`
      )
      return `array{${fields.join(", ")}}`
    }
    default:
      return "mixed"
  }
}

const nativeOf = (name: string, schema: Json): string => {
  if (name === "limit") return "int"
  const type = at(schema, "type")
  if (type === "boolean") return "bool"
  if (type === "integer" || type === "number") return "int"
  return type === "string" ? "string" : "mixed"
}

const parameterOf = ({ name, required, schema }: Parameter) => {
  const type = nativeOf(name, schema)
  return required ? `${type} $${name}` : `${type === "mixed" ? type : `?${type}`} $${name} = null`
}

const mapOf = (parameters: ReadonlyArray<Parameter>) =>
  `[${parameters.map(({ name }) => `'${name}' => $${name}`).join(", ")}]`

/** The client generates the id instead of the service, so that it can repeat a call after a lost response. */
const bodyOf = (parameters: ReadonlyArray<Parameter>) =>
  mapOf(parameters).replace("'id' => $id", "'id' => $id ?? Transport::uuid()")

const methodOf = (document: unknown) => (operation: Operation) => {
  const { answer, description, idempotent, inBody, inPath, inQuery, method, name, path } = operation
  const parameters = [...inBody, ...inQuery].toSorted(
    (left, right) => Number(right.required) - Number(left.required)
  )
  const returned = answer.kind === "json" ? "array" : answer.kind === "bytes" ? "string" : "void"
  const target = path.replaceAll(
    /\{(\w+)\}/g,
    (_, parameter: string) => `' . rawurlencode($${parameter}) . '`
  )
  const passed = [
    `'${method}'`,
    `'${target}'`.replace(/ \. ''$/, ""),
    ...(inQuery.length === 0 ? [] : [`query: ${mapOf(inQuery)}`]),
    ...(inBody.length === 0 ? [] : [`body: ${bodyOf(inBody)}`]),
    ...(idempotent ? [] : ["idempotent: false"]),
    ...(answer.kind === "bytes" ? ["raw: true"] : [])
  ]
  const call = `$this->transport->call(${passed.join(", ")})`
  const lines = [
    ...description.replaceAll("*/", "").split("\n"),
    "",
    ...parameters
      .filter(({ description }) => description !== "")
      .map(
        ({ description, name, required, schema }) =>
          `@param ${nativeOf(name, schema)}${required ? "" : "|null"} $${name} ${description}`
      ),
    ...(answer.kind === "json" ? [`@return ${shapeOf(document, answer.schema, 3)}`] : []),
    "@throws QuittanceException"
  ]
  return `    /**
${lines.map((line) => `     * ${line}`.trimEnd()).join("\n")}
     */
    public function ${name}(${[...inPath, ...parameters].map(parameterOf).join(", ")}): ${returned}
    {
        ${returned === "void" ? "" : "return "}${call};
    }`
}

/** The classes, by file name. */
export const phpClient = (
  document: unknown,
  operations: ReadonlyArray<Operation>
): Readonly<Record<string, string>> => {
  const groups = Map.groupBy(operations, ({ group }) => group)
  const head = (about: string) =>
    `<?php\n\ndeclare(strict_types=1);\n\nnamespace Quittance;\n\n/** ${about} */\n`
  const classes = [...groups].map(([group, all]): [string, string] => [
    `${pascal(group)}.php`,
    `${head("Generated from the service's OpenAPI document.")}final class ${pascal(group)}
{
    public function __construct(private readonly Transport $transport)
    {
    }

${all.map(methodOf(document)).join("\n\n")}
}
`
  ])
  return {
    ...Object.fromEntries(classes),
    "Quittance.php": `${head("A shop's calls, by its secret key. Generated from the service's OpenAPI document.")}final class Quittance
{
${[...groups.keys()].map((group) => `    public readonly ${pascal(group)} $${group};`).join("\n")}

    /**
     * @param string $key a secret key, sk_test_… or sk_live_…
     * @param string $baseUrl the origin of the service
     * @param float $timeout seconds per try
     * @param int $retries retries after a 429 and, if repeating is safe, after a 5xx or a missing response
     */
    public function __construct(string $key, string $baseUrl, float $timeout = 20.0, int $retries = 2)
    {
        $transport = new Transport($key, $baseUrl, $timeout, $retries);
${[...groups.keys()].map((group) => `        $this->${group} = new ${pascal(group)}($transport);`).join("\n")}
    }
}
`
  }
}
