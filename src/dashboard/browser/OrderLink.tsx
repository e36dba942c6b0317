// The page of an order, to be followed where a browser may.
import { External } from "./parts.tsx"

/** The merchant's server has named it: nothing but the web's own schemes is a link. */
const isFollowable = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === ""
}

export const OrderLink = ({ url }: { readonly url: string }) => (
  <span class="break">{isFollowable(url) ? <External href={url}>{url}</External> : url}</span>
)
