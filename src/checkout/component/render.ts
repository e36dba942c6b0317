// Renders a state as one screen with one main action.

import { h, icon, spinner } from "./elements.ts"
import { beforePayment, type Model } from "./Model.ts"
import { header, unpaidFinalStates } from "./render/header.ts"
import { screenOf } from "./render/screenOf.ts"
import { spoken } from "./render/spoken.ts"
import type { ViewTools } from "./render/ViewTools.ts"
import { valuesOf } from "./render/values.ts"

/** The announcement for screen readers when the screen changes. */
export interface Rendered {
  readonly card: HTMLElement
  readonly announcement: string
}

export const render = (model: Model, tools: ViewTools): Rendered => {
  const { translation } = tools
  const screen = screenOf(model, tools)
  const values = valuesOf(model, tools)
  const { notice } = model
  const noticeText =
    notice === undefined ? undefined : translation.text(notice.key, { ...values, ...notice.values })
  const [other] = beforePayment.has(model.state) ? model.others : []
  const warning =
    other === undefined
      ? undefined
      : translation.text("othersWarning", { account: other.payer, time: translation.time(other.since) })
  const { support } = model.context?.merchant ?? {}
  const actions = (screen.actions ?? []).filter((action) => action !== undefined)
  const card = h(
    "section",
    {
      class: "card",
      part: "card",
      lang: translation.language,
      dir: translation.direction,
      "aria-labelledby": "title",
      "data-state": model.state
    },
    // A checkout that could not open a payment has no amount to show.
    model.payment === undefined && unpaidFinalStates.has(model.state) ? undefined : header(model, tools),
    h(
      "div",
      { class: "main", part: "body" },
      noticeText === undefined
        ? undefined
        : h("div", { class: notice?.tone === "info" ? "notice info" : "notice", part: "notice" }, noticeText),
      warning === undefined ? undefined : h("div", { class: "notice", part: "notice" }, warning),
      h(
        "div",
        { class: "lead" },
        h(
          "span",
          { class: `icon ${screen.tone ?? ""}`.trim() },
          screen.icon === "spinner" ? spinner() : icon(screen.icon)
        ),
        h(
          "div",
          { class: "words" },
          h("h2", { id: "title", part: "title", tabindex: "-1" }, screen.title),
          ...screen.text.map((text) => h("p", { part: "message" }, text))
        )
      ),
      ...(screen.body ?? []),
      actions.length === 0 ? undefined : h("div", { class: "actions", part: "actions" }, ...actions)
    ),
    model.payment === undefined
      ? undefined
      : h(
          "footer",
          { part: "footer" },
          h("bdi", { translate: "no" }, translation.text("reference", values)),
          tools.deadline === undefined
            ? undefined
            : h("p", { class: "deadline", part: "deadline", role: "timer", translate: "no" }, tools.deadline),
          support === undefined
            ? undefined
            : h("p", { class: "support" }, translation.text("supportText", { ...values, support }))
        )
  )
  return {
    card,
    announcement: spoken([noticeText, warning, screen.title, ...screen.text])
  }
}
