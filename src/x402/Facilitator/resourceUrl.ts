// Derives a payment's order URL from the resource that an agent pays for.
import type { Requirements } from "../Wire.ts"

/** The longest URL in its encoded form. */
const maxUrlLength = 2048

/** The resource in the merchant's own requirements. It becomes the payment's `intentUrl`. */
export const resourceUrl = ({ resource }: Requirements, baseUrl: string): string => {
  const url = resource === undefined ? null : URL.parse(resource)
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
  if (!plain) return baseUrl
  url.hash = ""
  if (url.href.length > maxUrlLength) url.search = ""
  return url.href.length > maxUrlLength ? url.origin : url.href
}
