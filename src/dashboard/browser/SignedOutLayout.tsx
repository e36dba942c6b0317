// The frame of the pages before a sign-in.
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"

export const SignedOutLayout = ({
  title,
  children
}: {
  readonly title: string
  readonly children: ComponentChildren
}) => {
  useEffect(() => {
    document.title = `${title} · Quittance`
  }, [title])
  return (
    <main class="signed-out">
      <div class="signed-out-card">
        <p class="brand">
          <img src="/dashboard/icon.svg" alt="" width="32" height="32" />
          Quittance
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
