// The field on /docs/errors that hides all codes and groups that do not contain the typed words.
import { defineComponent, h, onMounted, ref } from "vue"

const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)]

/** Empty until the page has counted its codes. */
const statusOf = (shown: number, total: number) =>
  total === 0 ? "" : shown === 0 ? "No code matches." : `${shown} of ${total} codes`

export const ErrorFilter = defineComponent({
  name: "ErrorFilter",
  setup: () => {
    const query = ref("")
    const shown = ref(0)
    const total = ref(0)

    const apply = () => {
      const words = query.value.toLowerCase().split(/\s+/)
      const entries = all(".error-entry")
      const matching = new Set<string>()
      for (const entry of entries) {
        const text = (entry.textContent ?? "").toLowerCase()
        entry.hidden = !words.every((word) => text.includes(word))
        if (!entry.hidden) matching.add(entry.dataset["code"] ?? "")
      }
      for (const link of all(".error-index a")) link.hidden = !matching.has(link.dataset["code"] ?? "")
      for (const group of all(".error-group, .error-index li"))
        group.hidden = group.querySelector("[data-code]:not([hidden])") === null
      shown.value = matching.size
      total.value = entries.length
    }
    onMounted(apply)

    return () =>
      h("div", { class: "error-filter" }, [
        h("label", { for: "error-filter" }, "Filter"),
        h("input", {
          id: "error-filter",
          type: "search",
          placeholder: "Code, status or word",
          autocomplete: "off",
          spellcheck: false,
          value: query.value,
          onInput: ({ target }: Event) => {
            if (target instanceof HTMLInputElement) query.value = target.value
            apply()
          }
        }),
        h("p", { role: "status" }, statusOf(shown.value, total.value))
      ])
  }
})
