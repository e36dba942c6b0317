// The sources with a defect put back.
import { join } from "node:path"
import type { Defect } from "./defects.ts"

export interface ChangedFile {
  /** From the root. */
  readonly file: string
  readonly text: string
}

const root = join(import.meta.dir, "../..")

/** Fails where a place of the defect is not in its file, or is there more than once. */
export const filesWith = async ({
  also = [],
  name,
  ...defect
}: Defect): Promise<ReadonlyArray<ChangedFile>> => {
  const texts = new Map<string, string>()
  for (const { file, from, to } of [defect, ...also]) {
    const source = texts.get(file) ?? (await Bun.file(join(root, file)).text())
    if (source.split(from).length !== 2) throw new Error(`${name}: ${file} does not hold its place once`)
    texts.set(
      file,
      source.replace(from, () => to)
    )
  }
  return [...texts].map(([file, text]) => ({ file, text }))
}
