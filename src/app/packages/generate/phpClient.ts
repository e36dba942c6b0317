// The PHP client's generated classes: one for each group of calls, and `Quittance` that holds them.
import {
  at,
  isJson,
  type Json,
  jsonAt,
  listAt,
  type Operation,
  type Parameter,
  textAt
} from "./operationsOf.ts"

const pascal = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/** The type for PHPStan and Psalm; anything deeper than `depth` is an array. */
const shapeOf = (document: unknown, schema: Json, depth: number): string => {
  const ref = textAt(schema, "$ref")
  if (ref !== "")
    return shapeOf(document, jsonAt(document, "components", "schemas", ref.split("/").at(-1) ?? ""), depth)
  const values = listAt(schema, "enum")
  if (values.length > 0)
    return values.map((value) => (typeof value === "string" ? `'${value}'` : String(value))).join("|")
  const options = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")]
  if (options.length > 0)
    return [...new Set(options.map((one) => shapeOf(document, isJson(one) ? one : {}, depth)))].join("|")
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
        ([key, one]) =>
          `${key}${required.includes(key) ? "" : "?"}: ${shapeOf(document, isJson(one) ? one : {}, depth - 1)}`
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

/** An id that the service would draw is drawn here, so that a call whose answer is lost can be made again. */
const bodyOf = (parameters: ReadonlyArray<Parameter>) =>
  mapOf(parameters).replace("'id' => $id", "'id' => $id ?? Transport::uuid()")

const methodOf = (document: unknown) => (operation: Operation) => {
  const { answer, description, idempotent, inBody, inPath, inQuery, method, name, path } = operation
  const named = [...inBody, ...inQuery].toSorted(
    (one, other) => Number(other.required) - Number(one.required)
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
    ...named
      .filter((one) => one.description !== "")
      .map(
        (one) =>
          `@param ${nativeOf(one.name, one.schema)}${one.required ? "" : "|null"} $${one.name} ${one.description}`
      ),
    ...(answer.kind === "json" ? [`@return ${shapeOf(document, answer.schema, 3)}`] : []),
    "@throws QuittanceException"
  ]
  return `    /**
${lines.map((line) => `     * ${line}`.trimEnd()).join("\n")}
     */
    public function ${name}(${[...inPath, ...named].map(parameterOf).join(", ")}): ${returned}
    {
        ${returned === "void" ? "" : "return "}${call};
    }`
}

/** The classes by their files' names. */
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
     * @param float $timeout seconds for one try
     * @param int $retries further tries after a 429, and after 5xx or no answer where that is safe
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
