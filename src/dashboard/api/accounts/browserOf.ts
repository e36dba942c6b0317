// A user agent as people describe it.

/** The first match counts: browsers also contain the names of those they descend from. */
const browsers: ReadonlyArray<readonly [RegExp, string]> = [
  [/Edg(?:e|A|iOS)?\//u, "Edge"],
  [/OPR\/|Opera/u, "Opera"],
  [/SamsungBrowser\//u, "Samsung Internet"],
  [/Firefox\/|FxiOS\//u, "Firefox"],
  [/(?:Headless)?Chrome\/|CriOS\//u, "Chrome"],
  [/Safari\//u, "Safari"]
]
const systems: ReadonlyArray<readonly [RegExp, string]> = [
  [/iPhone/u, "iPhone"],
  [/iPad/u, "iPad"],
  [/Android/u, "Android"],
  [/CrOS/u, "ChromeOS"],
  [/Windows/u, "Windows"],
  [/Mac OS X|Macintosh/u, "macOS"],
  [/Linux/u, "Linux"]
]

/** For example `Firefox on Linux`. */
export const browserOf = (userAgent: string | null): string => {
  const among = (names: ReadonlyArray<readonly [RegExp, string]>) =>
    names.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1]
  const browser = among(browsers) ?? "Another browser"
  const system = among(systems)
  return system === undefined ? browser : `${browser} on ${system}`
}
