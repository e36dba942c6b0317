// The API reference as markdown, from the OpenAPI document: an index, and a page per endpoint and event.
import { at, isJson, type Json, jsonAt, listAt, textAt } from "../openapi/json.ts"
import { fieldOf, fieldsOf, fieldTable, table } from "./fieldTable.ts"

export interface OperationPage {
  /** The path below /docs. */
  readonly name: string
  readonly title: string
  /** `POST /api/v1/payments`, or the type of an event. */
  readonly call: string
  /** The name of the page's group. */
  readonly group: string
  readonly summary: string
  readonly markdown: string
}

export interface ReferenceGroup {
  readonly name: string
  readonly description: string
  readonly operations: ReadonlyArray<OperationPage>
}

export interface Reference {
  readonly groups: ReadonlyArray<ReferenceGroup>
  /** The group's pages as one text. */
  readonly markdown: string
  /** Links to the pages. */
  readonly index: string
}

const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``
const jsonBlock = (value: unknown) => block("json", JSON.stringify(value, undefined, 2))

/** `payments.reportByPost` as part of a URL. */
export const slugOf = (operationId: string): string =>
  operationId
    .replaceAll(".", "-")
    .replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase()

interface Operation {
  readonly document: Json
  readonly isEvent: boolean
  readonly method: string
  readonly path: string
  readonly operation: Json
}

const places = [
  ["path", "Path parameters"],
  ["query", "Query parameters"],
  ["header", "Headers"]
] as const

const parametersOf = ({ operation }: Operation, place: string) =>
  listAt(operation["parameters"])
    .filter(isJson)
    .filter((parameter) => parameter["in"] === place)

/** A parameter in the form of a field. */
const fieldOfParameter = (document: Json, parameter: Json) => {
  const schema = jsonAt(parameter, "schema")
  const { description, example } = parameter
  return fieldOf(
    document,
    textAt(parameter["name"]),
    {
      ...schema,
      ...(description === undefined ? {} : { description }),
      ...(example === undefined ? {} : { examples: [example] })
    },
    parameter["required"] === true
  )
}

const bodyOf = (value: unknown) => at(value, "content", "application/json")

const keys = { secretKey: "secret", publishableKey: "publishable", agentKey: "agent" } as const
const prefixes = { secretKey: "sk", publishableKey: "pk", agentKey: "ak" } as const
type Key = keyof typeof keys
const isKey = (name: string): name is Key => name in keys
const keysOf = (operation: Json): ReadonlyArray<Key> =>
  listAt(operation["security"])
    .flatMap((requirement) => (isJson(requirement) ? Object.keys(requirement) : []))
    .filter(isKey)

/** True if a read-only key is refused: a scheme names the role `manage`. */
const needsFullAccess = (operation: Json) =>
  listAt(operation["security"]).some((scheme) => listAt(at(scheme, "secretKey")).includes("manage"))

const whoMayCall = (operation: Json) => {
  const kinds = keysOf(operation).map((key) => keys[key])
  if (kinds.length === 0) return "No key is needed."
  return `Send a ${needsFullAccess(operation) ? "full-access " : ""}${kinds.join(" or ")} key.`
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The call as a command line to the service that shows the page. */
const commandOf = (operation: Operation) => {
  const valueOf = (parameter: Json) =>
    fieldOfParameter(operation.document, parameter).example.replaceAll("`", "") || "VALUE"
  const path = parametersOf(operation, "path").reduce(
    (path, parameter) => path.replace(`{${textAt(parameter["name"])}}`, valueOf(parameter)),
    operation.path
  )
  const query = parametersOf(operation, "query")
    .filter((parameter) => parameter["required"] === true)
    .map((parameter) => `${textAt(parameter["name"])}=${encodeURIComponent(valueOf(parameter))}`)
  const [key] = keysOf(operation.operation)
  const body = at(bodyOf(operation.operation["requestBody"]), "example")
  const url = `{base_url}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`
  const parts = [
    `curl ${operation.method === "get" ? "" : `-X ${operation.method.toUpperCase()} `}${query.length > 0 ? quoted(url) : url}`,
    ...(key === undefined ? [] : [`-H 'authorization: Bearer ${prefixes[key]}_test_…'`]),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body, undefined, 2))}`])
  ]
  return block("sh", parts.join(" \\\n  "))
}

const fieldsOrNone = (title: string, fields: ReturnType<typeof fieldsOf>, required = "required") =>
  fields.length === 0 ? [] : [fieldTable(title, fields, required)]

const requestOf = (operation: Operation, heading: string) => {
  const { document } = operation
  const body = bodyOf(operation.operation["requestBody"])
  const parameters = places.flatMap(([place, title]) => {
    const fields = parametersOf(operation, place).map((parameter) => fieldOfParameter(document, parameter))
    return fields.length === 0 ? [] : [`${heading}# ${title}`, fieldTable("Parameter", fields)]
  })
  const fields = fieldsOrNone("Field", fieldsOf(document, at(body, "schema")))
  const example = at(body, "example")
  return [
    `${heading} ${operation.isEvent ? "Delivery" : "Request"}`,
    ...parameters,
    ...(body === undefined ? [] : [`${heading}# Body`, ...fields]),
    ...(operation.isEvent ? (example === undefined ? [] : [jsonBlock(example)]) : [commandOf(operation)])
  ]
}

/** The error codes and their meanings, from a response's description. */
const refusalsOf = (status: string, description: string) =>
  [...description.matchAll(/^`([A-Z_0-9]+)`: (.*)$/gm)].map(
    ([, code = "", meaning = ""]) => [`[${code}](/docs/errors#${code})`, status, meaning] as const
  )

const refusals = (operation: Json) =>
  Object.entries(jsonAt(operation, "responses")).flatMap(([status, response]) =>
    refusalsOf(status, textAt(response, "description"))
  )

const isRefusal = ([, response]: readonly [string, unknown]) =>
  refusalsOf("", textAt(response, "description")).length > 0

/** Codes of most endpoints: each page lists them in one line, not in its table. */
const commonOf = (operations: ReadonlyArray<Operation>): ReadonlySet<string> => {
  const links = operations.flatMap(({ operation }) => refusals(operation).map(([link]) => link))
  const counts = Map.groupBy(links, (link) => link)
  return new Set([...counts].filter(([, all]) => all.length > operations.length / 2).map(([link]) => link))
}

const responsesOf = (
  { document, isEvent, operation }: Operation,
  heading: string,
  common: ReadonlySet<string>
) => {
  const responses = Object.entries(jsonAt(operation, "responses"))
  const answers = responses
    .filter((response) => !isRefusal(response))
    .flatMap(([status, response]) => {
      const body = bodyOf(response)
      const example = at(body, "example")
      const media = Object.keys(jsonAt(response, "content"))
      return [
        `${heading} ${isEvent ? "Your response" : "Response"} ${status}`,
        textAt(response, "description"),
        ...(media.length < 2 ? [] : [`As ${media.map((type) => `\`${type}\``).join(" or ")}.`]),
        ...(media.length > 1 ? [] : fieldsOrNone("Field", fieldsOf(document, at(body, "schema")), "")),
        ...(example === undefined || media.length > 1 ? [] : [jsonBlock(example)])
      ]
    })
  const refused = refusals(operation)
  const own = refused.filter(([link]) => !common.has(link))
  const shared = refused.filter(([link]) => common.has(link)).map(([link]) => link)
  return [
    ...answers,
    ...(refused.length === 0 ? [] : [`${heading} Errors`]),
    ...(own.length === 0 ? [] : [table(["Code", "Status", "Meaning"], own)]),
    ...(shared.length === 0 ? [] : [`Most endpoints can also return ${shared.join(", ")}.`])
  ]
}

/** A call for the site: its method in colour, and a path that breaks at its slashes. */
export const callHtml = (call: string): string => {
  const [, method = "event", path = call] = /^([A-Z]+) (.*)$/.exec(call) ?? []
  return `<span class="method ${method.toLowerCase()}">${method.toUpperCase()}</span> <code>${path.replaceAll("/", "/<wbr>")}</code>`
}

const callOf = ({ isEvent, method, path }: Operation) => (isEvent ? path : `${method.toUpperCase()} ${path}`)

/** `heading` is the markdown heading of the operation. */
const markdownOf = (operation: Operation, heading: string, common: ReadonlySet<string>) => {
  const { isEvent, operation: own } = operation
  return [
    `${heading} ${textAt(own["summary"])}`,
    `\`${callOf(operation)}\``,
    ...[textAt(own["description"])].filter((text) => text !== ""),
    isEvent
      ? "An event: the service sends it to your webhook endpoint, and lists it at `GET /api/v1/events`."
      : whoMayCall(own),
    ...requestOf(operation, `${heading}#`),
    ...responsesOf(operation, `${heading}#`, common)
  ].join("\n\n")
}

const operationsOf = (document: Json): ReadonlyArray<Operation> =>
  (["paths", "webhooks"] as const).flatMap((part) =>
    Object.entries(jsonAt(document, part)).flatMap(([path, methods]) =>
      Object.entries(jsonAt(methods)).flatMap(([method, operation]) =>
        isJson(operation) ? [{ document, isEvent: part === "webhooks", method, path, operation }] : []
      )
    )
  )

const firstSentence = (text: string) => /^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0] ?? text

const intro = `# API reference

Every endpoint by group. Requests and responses are JSON; a key goes into \`Authorization: Bearer KEY\`. Tools read the same contract as [openapi.json](/openapi.json), and [Errors](/docs/errors) lists every code.`

/** `document` has its responses in place, and an example beside each body. */
export const referenceOf = (document: Json): Reference => {
  const operations = operationsOf(document)
  const common = commonOf(operations)
  const groups = listAt(document["tags"]).flatMap((tag) => {
    const name = textAt(tag, "name")
    const own = operations.filter(({ operation }) => listAt(operation["tags"]).includes(name))
    const description = textAt(tag, "description")
    const pages = own.map((operation): OperationPage => {
      const title = textAt(operation.operation["summary"])
      return {
        name: `reference/${slugOf(textAt(operation.operation["operationId"]))}`,
        title,
        call: callOf(operation),
        group: name,
        summary: firstSentence(textAt(operation.operation["description"])),
        markdown: `${markdownOf(operation, "#", common)}\n`
      }
    })
    const sections = own.map((operation) => markdownOf(operation, "###", common))
    return [{ name, description, operations: pages, sections }]
  })
  const heads = ({ name, description }: ReferenceGroup) => [`## ${name}`, description]
  return {
    groups,
    markdown: `${[intro, ...groups.flatMap((group) => [...heads(group), ...group.sections])].join("\n\n")}\n`,
    index: `${[
      intro,
      ...groups.flatMap((group) => [
        ...heads(group),
        table(
          ["Operation", "Call"],
          group.operations.map(({ name, title, call }) => [`[${title}](/docs/${name})`, callHtml(call)])
        )
      ])
    ].join("\n\n")}\n`
  }
}
