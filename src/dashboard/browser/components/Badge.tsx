// A word that a colour emphasises.
import type { ComponentChildren } from "preact"

export type Tone = "good" | "warn" | "bad" | "info" | "neutral"

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)
