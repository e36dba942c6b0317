// Reads values of unknown JSON, such as the OpenAPI document.
import { Predicate } from "effect"

export type Json = Readonly<Record<string, unknown>>

export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (node, name) =>
      typeof node === "object" && node !== null
        ? Object.entries(node).find(([key]) => key === name)?.[1]
        : undefined,
    value
  )

/** True for an object that is no array. */
export const isJson = (value: unknown): value is Json => Predicate.isObject(value)

export const jsonAt = (value: unknown, ...path: ReadonlyArray<string>): Json => {
  const node = at(value, ...path)
  return isJson(node) ? node : {}
}

export const listAt = (value: unknown, ...path: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const node = at(value, ...path)
  return Array.isArray(node) ? node : []
}

export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const node = at(value, ...path)
  return typeof node === "string" ? node : ""
}

/** The part of the document that a `$ref` names. */
export const resolveRef = (document: Json, ref: string): unknown => at(document, ...ref.slice(2).split("/"))
