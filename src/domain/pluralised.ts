/** `1 row`, `2 rows`. */
export const pluralised = (value: number, one: string, many = `${one}s`): string =>
  `${value} ${value === 1 ? one : many}`
