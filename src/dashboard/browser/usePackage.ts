import { useEffect, useState } from "preact/hooks"

/** The URL of one of the service's packages, such as `cli.tgz`, with its digest once the service has built it. */
export const usePackage = (name: string): string => {
  const withoutDigest = `${location.origin}/packages/${name}`
  const [address, setAddress] = useState(withoutDigest)
  useEffect(() => {
    const request = new AbortController()
    fetch(withoutDigest, { method: "HEAD", signal: request.signal }).then(
      ({ headers }) => {
        const byContent = headers.get("content-location")
        if (byContent !== null) setAddress(`${location.origin}${byContent}`)
      },
      () => {}
    )
    return () => request.abort()
  }, [withoutDigest])
  return address
}
