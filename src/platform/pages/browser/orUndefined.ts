/** The result of `run`; undefined if it throws, for example because the browser forbids storage. */
export const orUndefined = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}
