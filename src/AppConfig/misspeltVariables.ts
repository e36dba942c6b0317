// Variables that are no setting but nearly one: a name that is misspelt is read by nobody.

/** Letters to insert, drop or change on the way from one word to the other. */
const distance = (left: string, right: string): number => {
  let before = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...left].entries()) {
    const now = [row + 1]
    for (const [column, other] of [...right].entries())
      now.push(
        Math.min(
          (now[column] ?? 0) + 1,
          (before[column + 1] ?? 0) + 1,
          (before[column] ?? 0) + Number(letter !== other)
        )
      )
    before = now
  }
  return before.at(-1) ?? 0
}

/** Shorter names are near many that mean something else. */
const leastLength = 6
const mostMistakes = 2

/** A sentence for each of them. */
export const misspeltVariables = (
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>
): ReadonlyArray<string> => {
  const names = [...known].flatMap((name) => [name, `${name}_FILE`])
  return Object.keys(env).flatMap((name) => {
    if (names.includes(name) || name.length < leastLength) return []
    const [nearest] = names
      .filter((one) => one.length >= leastLength && Math.abs(one.length - name.length) <= mostMistakes)
      .map((one) => ({ one, mistakes: distance(name, one) }))
      .filter(({ mistakes }) => mistakes <= mostMistakes)
      .toSorted((left, right) => left.mistakes - right.mistakes)
    return nearest === undefined
      ? []
      : [`${name} is no setting, and nothing reads it. Is ${nearest.one} meant?`]
  })
}
