import { useEffect, useState } from "preact/hooks"

/** The URL of one of the service's packages, such as `cli.tgz`; with its digest once the service has built it. */
export const usePackage = (name: string): string => {
  const present = `${location.origin}/packages/${name}`
  const [address, setAddress] = useState(present)
  useEffect(() => {
    const asked = new AbortController()
    fetch(present, { method: "HEAD", signal: asked.signal }).then(
      ({ headers }) => {
        const byContent = headers.get("content-location")
        if (byContent !== null) setAddress(`${location.origin}${byContent}`)
      },
      () => {}
    )
    return () => asked.abort()
  }, [present])
  return address
}
