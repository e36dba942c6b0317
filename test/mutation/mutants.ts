// Small wrong changes to a source file: each one alone must be noticed by a test.
// Works on the text with comments, strings and types masked out.

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly change: string
  readonly text: string
}

/** Replaces what is no code by spaces of the same length. */
const mask = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, blank)
    .replace(/^import[\s\S]*?from "[^"]*"$/gm, blank)
    .replace(/^export (type|interface)[\s\S]*?(?=\n\n|\n(?:export|const)|$(?![\s\S]))/gm, blank)
    .replace(/^interface[\s\S]*?\n}/gm, blank)
    // What is only told to people.
    .replace(/\.annotate\(\{[\s\S]*?\}\)/g, blank)
    .replace(/\{ message: (["']).*?\1\s*\}|message:\s*\n?\s*(["']).*?\2/g, blank)
    .replace(/Effect\.fn\("[^"]*"\)|\.brand\("[^"]*"\)/g, blank)

const blank = (found: string) => found.replace(/[^\n]/g, " ")

type Rule = readonly [pattern: RegExp, replacement: string | ((found: string) => string)]

const operators: ReadonlyArray<Rule> = [
  [/ === /g, " !== "],
  [/ !== /g, " === "],
  [/ >= /g, " > "],
  [/ >= /g, " < "],
  [/ <= /g, " < "],
  [/ <= /g, " > "],
  [/ > /g, " >= "],
  [/ > /g, " <= "],
  [/ < /g, " <= "],
  [/ < /g, " >= "],
  [/ && /g, " || "],
  [/ &&\n/g, " ||\n"],
  [/ \|\| /g, " && "],
  [/ \+ /g, " - "],
  [/ - /g, " + "],
  [/ \* /g, " + "],
  [/ \/ /g, " * "],
  [/ % /g, " / "],
  [/ \?\? /g, " && "],
  [/\btrue\b/g, "false"],
  [/\bfalse\b/g, "true"],
  [/Math\.max\(/g, "Math.min("],
  [/Math\.floor\(/g, "Math.ceil("],
  [/\.every\(/g, ".some("],
  [/\.some\(/g, ".every("],
  [/!(?=[a-z(])/g, ""],
  [/\.sort\(\)/g, ""],
  [/\.toLowerCase\(\)/g, ""],
  [/\.toReversed\(\)/g, ""],
  [/ \? /g, " && false ? "],
  [/ \? /g, " || true ? "],
  [/isGreaterThanOrEqualToBigInt/g, "isGreaterThanBigInt"],
  [/isLessThanOrEqualToBigInt/g, "isLessThanBigInt"],
  // Numbers, but not the sizes in patterns.
  [
    /(?<![\w{.,[])\d[\d_]*n?(?![\w}\]-])/g,
    (found) => (found.endsWith("n") ? `(${found} + 1n)` : `(${found} + 1)`)
  ],
  // Anchors and sizes of patterns.
  [/\/\^/g, "/"],
  [/\$\//g, "/"],
  [/\{(\d+)\}/g, (found) => `{${Number(found.slice(1, -1)) - 1},}`],
  // Guards and answers.
  [/^ *if \(.*\) (return|continue)\b.*$/gm, ""],
  [/^ *if \(.*\) \{$/gm, (found) => found.replace(/if \(.*\) \{/, "if (false) {")],
  [/reason: "[a-z_]+"/g, 'reason: "mutated"'],
  [/(?<=return )"[a-z]+"/g, '"mutated"'],
  [/(?<=\? )"[a-z]+"(?= :)/g, '"mutated"'],
  [/(?<=case )"[A-Za-z]+"/g, '"mutated"']
]

/** Every mutant of a file. */
export const mutantsOf = (file: string, source: string): ReadonlyArray<Mutant> => {
  const code = mask(source)
  return operators.flatMap(([pattern, replacement]) =>
    [...code.matchAll(pattern)].map((match) => {
      const at = match.index
      const found = match[0]
      const next = typeof replacement === "string" ? replacement : replacement(found)
      return {
        file,
        line: source.slice(0, at).split("\n").length,
        change: `${found.trim()} -> ${next.trim() || "(removed)"}`,
        text: source.slice(0, at) + next + source.slice(at + found.length)
      }
    })
  )
}
