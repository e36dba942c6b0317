// The reference of the API as markdown, from the OpenAPI document.
import { Predicate } from "effect"

type Json = Readonly<Record<string, unknown>>
const isJson = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)
const child = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((at, key) => (isJson(at) ? at[key] : undefined), value)
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const text = (value: unknown) => (Predicate.isString(value) ? value : "")
const block = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\``
const cell = (value: unknown) => text(value).replaceAll("|", "\\|").replaceAll("\n", " ")

const parametersOf = (operation: unknown) => {
  const rows = listOf(child(operation, "parameters")).map(
    (one) =>
      `| \`${text(child(one, "name"))}\` | ${text(child(one, "in"))} | ${cell(child(one, "description") ?? child(one, "schema", "description"))} |`
  )
  return rows.length === 0 ? [] : [["| Parameter | In | |", "|---|---|---|", ...rows].join("\n")]
}

const bodyExample = (value: unknown) => child(value, "content", "application/json", "example")

/** The codes that an answer's description names. */
const codesIn = (description: string) =>
  [...description.matchAll(/^`([A-Z_0-9]+)`:/gm)].map(([, code = ""]) => code)

const answersOf = (operation: unknown) => {
  const responses = child(operation, "responses")
  if (!isJson(responses)) return []
  const refusals: Array<string> = []
  const shown = Object.entries(responses).flatMap(([status, response]) => {
    const codes = codesIn(text(child(response, "description")))
    refusals.push(...codes.map((code) => `[${code}](/docs/errors#${code})`))
    if (codes.length > 0) return []
    const example = bodyExample(response)
    const title = `**${status}** ${text(child(response, "description"))}`
    return example === undefined ? [title] : [`${title}\n\n${block(example)}`]
  })
  return [...shown, ...(refusals.length === 0 ? [] : [`Errors: ${[...new Set(refusals)].join(", ")}.`])]
}

const keysOf = (operation: unknown) => {
  const kinds = listOf(child(operation, "security"))
    .flatMap((one) => (isJson(one) ? Object.keys(one) : []))
    .map((name) => name.replace(/Key$/, ""))
  return kinds.length === 0 ? [] : [`Key: ${kinds.join(" or ")}.`]
}

const shownOperation = (title: string, operation: unknown) => {
  const example =
    child(operation, "requestBody") === undefined ? undefined : bodyExample(child(operation, "requestBody"))
  return [
    `### ${text(child(operation, "summary"))}`,
    `\`${title}\``,
    ...[text(child(operation, "description"))].filter((one) => one !== ""),
    ...keysOf(operation),
    ...parametersOf(operation),
    ...(example === undefined ? [] : [`Body:\n\n${block(example)}`]),
    ...answersOf(operation)
  ].join("\n\n")
}

export const referenceGuide = (document: Json): string => {
  const operations = ["paths", "webhooks"].flatMap((part) =>
    Object.entries(isJson(document[part]) ? document[part] : {}).flatMap(([path, methods]) =>
      Object.entries(isJson(methods) ? methods : {}).map(([method, operation]) => ({
        title: part === "webhooks" ? `Webhook ${path}` : `${method.toUpperCase()} ${path}`,
        operation
      }))
    )
  )
  const sections = listOf(document["tags"]).map((tag) => {
    const own = operations.filter(({ operation }) =>
      listOf(child(operation, "tags")).includes(child(tag, "name"))
    )
    return [
      `## ${text(child(tag, "name"))}`,
      text(child(tag, "description")),
      ...own.map(({ title, operation }) => shownOperation(title, operation))
    ].join("\n\n")
  })
  return `# API reference

\`Authorization: Bearer KEY\`, JSON in and out. The same as a document for tools: [openapi.json](/openapi.json). Errors: [by group](/docs/errors).

${sections.join("\n\n")}
`
}
