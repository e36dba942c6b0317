// The metrics of several processes as one page for Prometheus (text exposition 0.0.4): each series with the number of
// its process, each family once.

interface Family {
  readonly heads: Array<string>
  readonly samples: Array<string>
}

const labelled = (sample: string, label: string): string => {
  const [, name = "", labels, value = ""] = /^([^\s{]+)(?:\{(.*)\})?(\s.*)$/.exec(sample) ?? []
  return labels === undefined || labels === ""
    ? `${name}{${label}}${value}`
    : `${name}{${label},${labels}}${value}`
}

/** `pages` by the number of the process. */
export const gathered = (pages: ReadonlyMap<number, string>): string => {
  const families = new Map<string, Family>()
  for (const [number, page] of pages) {
    let family: Family = { heads: [], samples: [] }
    for (const line of page.split("\n")) {
      if (line.trim() === "") continue
      const [, kind, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? []
      if (kind === undefined || name === undefined) {
        if (!line.startsWith("#")) family.samples.push(labelled(line, `process="${number}"`))
        continue
      }
      family = families.get(name) ?? { heads: [], samples: [] }
      families.set(name, family)
      if (!family.heads.some((one) => one.startsWith(`# ${kind} `))) family.heads.push(line)
    }
  }
  return [...families.values()].map(({ heads, samples }) => `${[...heads, ...samples].join("\n")}\n`).join("")
}
