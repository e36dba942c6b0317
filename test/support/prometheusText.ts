// A strict reader of Prometheus' text exposition format 0.0.4: any deviation throws.
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string | undefined
  readonly samples: ReadonlyArray<Sample>
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]?Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y
const suffixes: Readonly<Record<string, ReadonlyArray<string>>> = {
  histogram: ["_bucket", "_sum", "_count"],
  counter: [""],
  gauge: [""]
}

const labelsOf = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  labelPair.lastIndex = 0
  while (labelPair.lastIndex < text.length) {
    const [, name = "", value = ""] = labelPair.exec(text) ?? []
    if (name === "") throw new Error(`labels: ${text}`)
    if (name in labels) throw new Error(`label ${name} twice: ${text}`)
    labels[name] = value
  }
  return labels
}

/** Cumulative buckets that end in `+Inf` with the count. */
const checkHistogram = ({ name, samples }: Family) => {
  const series = new Map<string, Array<Sample>>()
  for (const sample of samples) {
    const { le: _, ...rest } = sample.labels
    const key = JSON.stringify(Object.entries(rest).sort())
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const [key, all] of series) {
    const buckets = all.filter((one) => one.name === `${name}_bucket`)
    const counts = buckets.map((one) => one.value)
    const last = buckets.at(-1)
    const total = all.find((one) => one.name === `${name}_count`)
    if (counts.some((count, index) => count < (counts[index - 1] ?? 0)))
      throw new Error(`${name} ${key}: falls`)
    if (last?.labels["le"] !== "+Inf" || last.value !== total?.value) throw new Error(`${name} ${key}: +Inf`)
    if (!all.some((one) => one.name === `${name}_sum`)) throw new Error(`${name} ${key}: no sum`)
  }
}

/** Families by name. Throws on a malformed line, a sample outside its family, or a repeated series. */
export const parsePrometheusText = (text: string): ReadonlyMap<string, Family> => {
  if (!text.endsWith("\n")) throw new Error("the last line does not end")
  const families = new Map<
    string,
    { name: string; type: string; help: string | undefined; samples: Array<Sample> }
  >()
  const seen = new Set<string>()
  let help: { readonly name: string; readonly text: string } | undefined
  let open: { name: string; type: string; samples: Array<Sample> } | undefined
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (comment !== null) {
      const [, kind, name = "", rest = ""] = comment
      if (kind === "HELP") {
        help = { name, text: rest }
        continue
      }
      if (families.has(name)) throw new Error(`${name} comes twice`)
      if (suffixes[rest] === undefined) throw new Error(`${name}: type ${rest}`)
      const family = { name, type: rest, help: help?.name === name ? help.text : undefined, samples: [] }
      families.set(name, family)
      open = family
      continue
    }
    const [, name = "", labels = "", value = ""] = sampleLine.exec(line) ?? []
    if (name === "") throw new Error(`not a sample: ${line}`)
    const family = open
    if (family === undefined || !suffixes[family.type]?.some((suffix) => name === family.name + suffix))
      throw new Error(`${name} outside its family`)
    const sample = { name, labels: labelsOf(labels), value: Number(value.replace("Inf", "Infinity")) }
    const key = name + JSON.stringify(Object.entries(sample.labels).sort())
    if (seen.has(key)) throw new Error(`twice: ${line}`)
    seen.add(key)
    family.samples.push(sample)
  }
  for (const family of families.values()) if (family.type === "histogram") checkHistogram(family)
  return families
}

/** The sum of a sample's values over all series that carry these labels. */
export const total = (
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {}
): number =>
  [...families.values()]
    .flatMap((family) => family.samples)
    .filter(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value)
    )
    .reduce((sum, one) => sum + one.value, 0)
