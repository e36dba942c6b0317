// The link back to the shop.

/**
 * The intent's URL if a browser may follow it: https, or http on the developer's own machine. Undefined for anything
 * else, such as `javascript:`.
 */
export const followableUrl = (intentUrl: string): URL | undefined => {
  const url = URL.parse(intentUrl)
  if (url === null || url.username !== "" || url.password !== "") return undefined
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  return url.protocol === "https:" || (url.protocol === "http:" && local) ? url : undefined
}
