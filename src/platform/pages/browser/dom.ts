// DOM helpers of the hosted pages.
import { type Catalogues, localised, type Translation } from "./localised.ts"

const elementOf = <E extends HTMLElement>(id: string, kind: new () => E): E => {
  const node = document.getElementById(id)
  if (!(node instanceof kind)) throw new Error(`no ${kind.name} #${id}`)
  return node
}

export const element = (id: string): HTMLElement => elementOf(id, HTMLElement)
export const input = (id: string): HTMLInputElement => elementOf(id, HTMLInputElement)
export const form = (id: string): HTMLFormElement => elementOf(id, HTMLFormElement)

/**
 * Translates the document into the reader's language. `data-text` is the key of an element's text, `data-label` of its
 * label.
 */
export const translated = <K extends string>(catalogues: Catalogues<K>): Translation<K> => {
  const translation = localised(catalogues, navigator.languages)
  const isKey = (key: string | undefined): key is K => key !== undefined && key in catalogues.en
  document.documentElement.lang = translation.language
  document.documentElement.dir = translation.direction
  for (const labelled of document.querySelectorAll<HTMLElement>("[data-text], [data-label]")) {
    const { label, text } = labelled.dataset
    if (isKey(text)) labelled.textContent = translation.text(text)
    if (isKey(label)) labelled.setAttribute("aria-label", translation.text(label))
  }
  return translation
}
