// The Python client's generated modules: `types.py` and `client.py`.
import { at, type Json, jsonAt, listAt, textAt } from "../../openapi/json.ts"
import type { Operation, Parameter } from "./operationsOf.ts"

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const pascal = (name: string) =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("")
const keywords = new Set(["from", "in", "is", "not", "or", "and", "class", "import", "global", "pass"])
const safe = (name: string) => (keywords.has(name) ? `${name}_` : name)

/** Collects the TypedDicts that are used. */
class Types {
  readonly #document: unknown
  readonly #written = new Map<string, string>()

  constructor(document: unknown) {
    this.#document = document
  }

  get text(): string {
    return [...this.#written.values()].join("\n\n")
  }

  of(schema: Json, hint: string): string {
    const ref = textAt(schema, "$ref")
    if (ref !== "") {
      const name = ref.split("/").at(-1) ?? ""
      return this.#object(pascal(name), jsonAt(this.#document, "components", "schemas", name))
    }
    const values = listAt(schema, "enum")
    if (values.length > 0) return `Literal[${values.map((value) => JSON.stringify(value)).join(", ")}]`
    const options = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")]
    if (options.length > 0)
      return `Union[${[...new Set(options.map((option, index) => this.of(jsonAt(option), `${hint}${index === 0 ? "" : index}`)))].join(", ")}]`
    switch (at(schema, "type")) {
      case "string":
        return "str"
      case "boolean":
        return "bool"
      case "integer":
        return "int"
      case "number":
        return "float"
      case "null":
        return "None"
      case "array":
        return `List[${this.of(jsonAt(schema, "items"), `${hint}Item`)}]`
      case "object":
        return at(schema, "properties") === undefined ? "Dict[str, Any]" : this.#object(hint, schema)
      default:
        return "Any"
    }
  }

  #object(name: string, schema: Json): string {
    if (at(schema, "properties") === undefined) return this.of({ ...schema }, name)
    if (this.#written.has(name)) return name
    const required = listAt(schema, "required")
    const lines = Object.entries(jsonAt(schema, "properties")).map(([key, property]) => {
      const type = this.of(jsonAt(property), name + pascal(key))
      return `        ${JSON.stringify(key)}: ${required.includes(key) ? type : `NotRequired[${type}]`},`
    })
    // The call syntax allows any field name, including keywords such as `from`.
    this.#written.set(
      name,
      `${name} = TypedDict(\n    ${JSON.stringify(name)},\n    {\n${lines.join("\n")}\n    },\n)`
    )
    return name
  }
}

const parameterOf =
  (types: Types, hint: string) =>
  ({ name, required, schema }: Parameter) => {
    const type = name === "limit" ? "int" : types.of(schema, hint + pascal(name))
    return required ? `${safe(snake(name))}: ${type}` : `${safe(snake(name))}: Optional[${type}] = None`
  }

const mapOf = (parameters: ReadonlyArray<Parameter>) =>
  `{${parameters.map(({ name }) => `${JSON.stringify(name)}: ${safe(snake(name))}`).join(", ")}}`

/** The client generates the id instead of the service, so that it can repeat a call after a lost response. */
const bodyOf = (parameters: ReadonlyArray<Parameter>) =>
  mapOf(parameters).replace('"id": id,', '"id": id or str(uuid4()),')

const docOf = ({ description, inBody, inQuery }: Operation) => {
  const described = [...inQuery, ...inBody].filter(({ description }) => description !== "")
  const lines = described.map(({ description, name }) => `        ${safe(snake(name))}: ${description}`)
  const all = [description.replaceAll('"""', "'''"), ...(lines.length === 0 ? [] : ["", ...lines])].join("\n")
  return `        """${all}${lines.length === 0 ? "" : "\n        "}"""`
}

const methodOf = (types: Types) => (operation: Operation) => {
  const { answer, group, idempotent, inBody, inPath, inQuery, method, name, path } = operation
  const hint = pascal(group) + pascal(name)
  const positional = inPath.map(({ name }) => `${safe(snake(name))}: str`)
  const keyword = [...inBody, ...inQuery].toSorted(
    (left, right) => Number(right.required) - Number(left.required)
  )
  const signature = [
    "self",
    ...positional,
    ...(keyword.length === 0 ? [] : ["*", ...keyword.map(parameterOf(types, hint))])
  ]
  const returned =
    answer.kind === "json"
      ? types.of(answer.schema, `${hint}Answer`)
      : answer.kind === "bytes"
        ? "bytes"
        : "None"
  const target = path.replaceAll(
    /\{(\w+)\}/g,
    (_, parameter: string) => `{_quoted(${safe(snake(parameter))})}`
  )
  const passed = [
    JSON.stringify(method),
    `${target.includes("{") ? "f" : ""}${JSON.stringify(target)}`,
    ...(inQuery.length === 0 ? [] : [`query=${mapOf(inQuery)}`]),
    ...(inBody.length === 0 ? [] : [`body=${bodyOf(inBody)}`]),
    ...(idempotent ? [] : ["idempotent=False"]),
    ...(answer.kind === "bytes" ? ["raw=True"] : [])
  ]
  const called = `self._call(${passed.join(", ")})`
  return `    def ${safe(snake(name))}(${signature.join(", ")}) -> ${returned}:\n${docOf(operation)}\n        ${returned === "None" ? called : `return cast(${returned.includes("[") ? JSON.stringify(returned) : returned}, ${called})`}`
}

/** The modules, by file name. */
export const pythonClient = (
  document: unknown,
  operations: ReadonlyArray<Operation>
): Readonly<Record<string, string>> => {
  const types = new Types(document)
  const groups = Map.groupBy(operations, ({ group }) => group)
  const classes = [...groups].map(
    ([group, all]) =>
      `class ${pascal(group)}Calls:\n    def __init__(self, call: Call) -> None:\n        self._call = call\n\n${all.map(methodOf(types)).join("\n\n")}`
  )
  const names = [...types.text.matchAll(/^(\w+) = TypedDict/gm)].map(([, name]) => name)
  return {
    "types.py": `"""Shapes of the service's answers. Generated from its OpenAPI document."""

from typing import Any, Dict, List, Literal, NotRequired, TypedDict, Union

${types.text}
`,
    "client.py": `"""The calls that a secret key may make. Generated from the service's OpenAPI document."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union, cast
from urllib.parse import quote
from uuid import uuid4

from ._transport import Call, transport
from .types import (
${names.map((name) => `    ${name},`).join("\n")}
)


def _quoted(text: str) -> str:
    return quote(text, safe="")


${classes.join("\n\n\n")}


class Quittance:
    """A shop's calls. \`key\` is a secret key; \`base_url\` the origin of the service; \`timeout\` the seconds per try;
    \`retries\` the retries after a 429 and, if repeating is safe, after a 5xx or a missing response."""

    def __init__(self, key: str, base_url: str, timeout: float = 20.0, retries: int = 2) -> None:
        call = transport(key, base_url, timeout, retries)
${[...groups.keys()].map((group) => `        self.${snake(group)} = ${pascal(group)}Calls(call)`).join("\n")}
`
  }
}
