// The colours of code. Shiki writes them as inline styles, which the pages' policy forbids: each becomes a
// class, whose colours for light and dark are in theme.css.
import type { MarkdownOptions } from "vitepress"

/** A class for each kind of token, by the scopes of TextMate grammars. */
const kinds: ReadonlyArray<readonly [name: string, scopes: ReadonlyArray<string>]> = [
  ["comment", ["comment", "punctuation.definition.comment"]],
  ["string", ["string", "punctuation.definition.string", "constant.other.symbol", "markup.inline.raw"]],
  ["number", ["constant", "constant.numeric", "constant.language", "support.constant"]],
  [
    "keyword",
    ["keyword", "storage", "storage.type", "variable.language", "keyword.operator.new", "entity.name.tag"]
  ],
  ["function", ["entity.name.function", "support.function", "meta.function-call.generic"]],
  [
    "type",
    ["entity.name.type", "entity.name.class", "support.type", "support.class", "entity.other.attribute-name"]
  ],
  ["property", ["support.type.property-name", "meta.object-literal.key", "variable.parameter"]],
  ["plain", ["keyword.operator", "string.unquoted.argument", "string.template meta.template.expression"]]
]

const colourOf = (index: number) => `#0000${(index + 1).toString(16).padStart(2, "0")}`

const theme = {
  name: "quittance",
  type: "light" as const,
  fg: "#000000",
  bg: "#ffffff",
  settings: kinds.map(([, scope], index) => ({
    scope: [...scope],
    settings: { foreground: colourOf(index) }
  }))
}

const classes = new Map(kinds.map(([name], index) => [colourOf(index).toUpperCase(), `code-${name}`]))

export const codeTheme: MarkdownOptions = {
  theme,
  codeTransformers: [
    {
      name: "quittance:classes",
      span: (node) => {
        const colour = /#[0-9a-f]{6}/i.exec(String(node.properties["style"] ?? ""))?.[0]
        delete node.properties["style"]
        const name = colour === undefined ? undefined : classes.get(colour.toUpperCase())
        if (name !== undefined) node.properties["class"] = name
      }
    }
  ]
}

/** One grammar for all three, because each grammar that Shiki loads costs the build a second. */
export const grammars: Readonly<Record<string, string>> = { js: "tsx", ts: "tsx" }

/** Highlights JSON like Shiki would, from escaped text, because half of all code is JSON. */
export const jsonHtml = (escaped: string): string => {
  const code = escaped
    .trimEnd()
    .replaceAll(
      /(&quot;(?:\\.|(?!&quot;).)*&quot;)(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g,
      (word, text, colon) =>
        text === undefined
          ? `<span class="code-number">${word}</span>`
          : colon === undefined
            ? `<span class="code-string">${text}</span>`
            : `<span class="code-property">${text}</span>${colon}`
    )
  return `<pre class="shiki vp-code" tabindex="0" v-pre=""><code>${code}</code></pre>`
}
