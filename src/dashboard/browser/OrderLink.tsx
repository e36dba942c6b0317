// The page of an order, as a link if a browser may follow it.

/** The URL comes from the merchant's server, so only the web's own schemes become a link. */
const isFollowable = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === ""
}

/** A long URL breaks after a slash rather than within a word. */
const breakable = (url: string) => url.split(/(?<=\/)/).flatMap((part, index) => [part, <wbr key={index} />])

export const OrderLink = ({ url }: { readonly url: string }) =>
  isFollowable(url) ? (
    <a class="break" href={url} target="_blank" rel="noreferrer">
      {breakable(url)}
      <span class="hidden"> (opens in a new tab)</span>
    </a>
  ) : (
    <span class="break">{breakable(url)}</span>
  )
